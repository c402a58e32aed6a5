# Writes OUTPUT: a C++ file whose function NAME() returns the bytes of SOURCE.
file(READ ${SOURCE} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT}
     "#include \"embedded/${TARGET}.h\"\nnamespace gpuadvise {\nnamespace {\nconstexpr unsigned char kBytes[] = {${bytes}0};\n}\n"
     "std::string_view ${NAME}() { return {reinterpret_cast<const char*>(kBytes), ${size}}; }\n}\n")
