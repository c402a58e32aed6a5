// Made by languages.mjs at the build, from po/*.po.
declare module 'virtual:languages' {
  export const languages: Record<string, () => Promise<{ default: Record<string, string> }>>;
}
