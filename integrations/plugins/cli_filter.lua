-- Partition, GPU type and constraint for plain `sbatch`, from gpuadvised.
--
-- A cli_filter of Slurm: it runs inside sbatch, as the user, before the job is sent. It acts on jobs
-- whose comment has the word gpuadvise:auto (or gpuadvise:auto:40G: at least so much memory on each
-- GPU), and on those of the partitions listed below. It asks `gpuadvise select` once, for at most a
-- second, and sets only what the user left open. On any trouble the job goes through unchanged, with
-- one line on stderr. README.md beside this file says how to install it, alone or with a site's own.

local gpuadvise = {}

-- For a site to change.
gpuadvise.settings = {
  client = "/usr/bin/gpuadvise",
  socket = "",               -- "": where the client looks by itself
  seconds = 1,               -- for the whole question
  avoid = "",                -- partitions never to choose, like "debug,interactive"
  default_for = {},          -- { gpu = true }: also jobs for partition gpu that do not ask for it
  default_without_partition = false,  -- the same for jobs that name no partition
}

-- sbatch's options that say where or when a job can run. What the forecast does not see is sent as
-- well: the client then refuses to choose.
local ASKED = {
  "account", "array", "batch", "bb", "bbf", "begin", "cluster-constraint", "clusters",
  "consolidate-segments", "constraint", "contiguous", "core-spec", "cores-per-socket",
  "cpus-per-gpu", "cpus-per-task", "deadline", "dependency", "exclude", "exclusive", "gpus",
  "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "hint", "hold",
  "job-name", "licenses", "mem", "mem-per-cpu", "mem-per-gpu", "mincpus", "network", "nice", "nodefile",
  "nodelist", "nodes", "ntasks", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node",
  "ntasks-per-socket", "overcommit", "oversubscribe", "partition", "power", "prefer", "priority",
  "qos", "reboot", "reservation", "segment", "sockets-per-node", "spread-job", "switches",
  "thread-spec", "threads-per-core", "time", "time-min", "tmp", "tres-per-task", "use-min-nodes",
}
local FLAGS = {  -- options without a value
  ["consolidate-segments"] = true, contiguous = true, hold = true, overcommit = true,
  oversubscribe = true, reboot = true, ["spread-job"] = true, ["use-min-nodes"] = true,
}
local GPU_OPTIONS = { "gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket",
                      "tres-per-task" }
-- What the client may print, and the option that each is.
local ANSWERED = {
  partition = "partition", constraint = "constraint", gres = "gres", gpus = "gpus",
  gpus_per_node = "gpus-per-node", gpus_per_task = "gpus-per-task",
}

-- Text for one line of a terminal: no control characters (C1 neither), no invisible ones that do harm.
-- The client has replaced more of them already, and knows where the joiners U+200C and U+200D belong.
local HARMFUL = {
  "[%z\1-\31\127]", "\194[\128-\159]", "\216\156",            -- C0, DEL, C1, U+061C
  "\226\128[\139\142\143\168-\174]",                         -- U+200B, 200E-200F, 2028-202E
  "\226\129[\160-\175]", "\239\187\191",                     -- U+2060-206F, FEFF
  "\243\160[\128\129][\128-\191]",                          -- tags
}

local function printable(text)
  if #text > 300 then  -- cut between characters
    text = string.gsub(string.sub(text, 1, 300), "[\192-\255][\128-\191]*$", "") .. "…"
  end
  for _, harmful in ipairs(HARMFUL) do text = string.gsub(text, harmful, "?") end
  return text
end

local function say(text)
  slurm.log_info("%s", "gpuadvise: " .. printable(text))
end

-- One word for the shell, whatever is in it.
local function quoted(text)
  return "'" .. string.gsub(text, "'", "'\\''") .. "'"
end

-- Whether the user gave the option. Options that were not given have odd values of their own; the
-- JSON has only those that were, and a quote inside of a value is escaped there.
local function given(json, name)
  return string.find(json, '[{,]"' .. string.gsub(name, "%-", "%%-") .. '":') ~= nil
end

-- "auto", "off", "unclear" or nil, and the memory that each GPU must have, or what is not clear.
local function wish(comment)
  for word in string.gmatch(comment or "", "[^%s,;]+") do
    if word == "gpuadvise:auto" then return "auto", "" end
    if word == "gpuadvise:off" then return "off", "" end
    local memory = string.match(word, "^gpuadvise:auto:(.*)$")
    if memory ~= nil and string.find(memory, "^%d+%a*$") then return "auto", memory end
    if memory ~= nil then return "unclear", word end
  end
end

local function is_default(partition)
  local settings = gpuadvise.settings
  if partition == nil then return settings.default_without_partition end
  for name in string.gmatch(partition, "[^,]+") do
    if settings.default_for[name] then return true end
  end
  return false
end

-- The words of every call of the client; the shell's line that runs them.
local function call()
  local settings = gpuadvise.settings
  local words = { "timeout", "-s", "KILL", tostring(settings.seconds), settings.client, "select",
                  "--timeout=" .. settings.seconds * 0.9 }
  if settings.socket ~= "" then table.insert(words, "--socket=" .. settings.socket) end
  return words
end

local function line_of(words)
  for i, word in ipairs(words) do words[i] = quoted(word) end
  return table.concat(words, " ") .. " 2>&1 </dev/null"
end

-- The line that asks, or nil and what is wrong with an option.
local function question(options, json, memory)
  local settings = gpuadvise.settings
  local words = call()
  if settings.avoid ~= "" then table.insert(words, "--avoid=" .. settings.avoid) end
  if memory ~= "" then table.insert(words, "--gpu-memory=" .. memory) end
  for _, name in ipairs(ASKED) do
    if given(json, name) then
      local value = string.gsub(tostring(options[name]), "%?$", "")  -- Slurm 22.05: --mem=0 is "0?"
      local odd = string.find(value, "%c") ~= nil
      if odd and name ~= "job-name" then  -- the name only tells which runs were alike
        return nil, "--" .. name .. " has a control character"
      end
      if not odd then
        table.insert(words, "--" .. name .. (FLAGS[name] and "" or "=" .. value))
      end
    end
  end
  return line_of(words)
end

-- What `line` prints and its exit status ("" where none came). The shell's own last line says that it
-- has ended: the pipe's end would be waited for as long as any process that it left behind holds it.
local function ask(line)
  local mark = "exit" .. string.gsub(tostring({}), "%W", "") .. "="  -- nobody else knows it
  local pipe = assert(io.popen(line .. "; printf '\\n" .. mark .. "%s\\n' $?", "r"))
  local bytes, start, exit = {}, 1, ""
  for i = 1, 65536 do
    local byte = pipe:read(1)
    if byte == nil then break end
    bytes[i] = byte
    if byte == "\n" then
      local last = table.concat(bytes, "", start, i - 1)
      if string.sub(last, 1, #mark) == mark then
        exit = string.sub(last, #mark + 1)
        break
      end
      start = i + 1
    end
  end
  pipe:close()
  return table.concat(bytes, "", 1, start - 1), exit
end

-- The client's answer as a table; or nil, what is wrong, and whether that is just that there is
-- nothing to choose.
local function read(text, exit)
  local answer, first = {}, nil
  for line in string.gmatch(text, "[^\n]+") do
    local key, value = string.match(line, "^([a-z_]+)=(.*)$")
    if key ~= nil then answer[key] = value end
    first = first or line
  end
  if exit == "137" or exit == "124" then return nil, "no answer in time" end
  if exit ~= "0" then
    first = string.gsub(first or "no answer", "^gpuadvise: ", "")
    return nil, string.match(first, "^(.-)%. %u") or first, exit == "3"  -- one sentence
  end
  for key in pairs(ANSWERED) do
    local value = answer[key]
    if value ~= nil and (string.find(value, "[^%w_%-%.,:|+]") or value == "" or #value > 4096) then
      return nil, "the answer cannot be read"
    end
  end
  return answer
end

-- What of `answer` the user has left open: GPUs get their type in the option that asks for them.
local function apply(options, json, answer)
  local set = 0
  for key, name in pairs(ANSWERED) do
    local is_gpus = name ~= "partition" and name ~= "constraint"
    if answer[key] ~= nil and given(json, name) == is_gpus then
      options[name] = answer[key]
      set = set + 1
    end
  end
  return set > 0
end

local function asks_for_gpus(json)
  for _, name in ipairs(GPU_OPTIONS) do
    if given(json, name) then return true end
  end
  return false
end

local advice = nil  -- of the job that this process is about to submit

local function choose(options, offset)
  if options["type"] ~= "sbatch" or (offset or 0) > 0 then return end
  local what, memory = wish(options["comment"])
  if what == "off" then return end
  if what == "unclear" then
    say("job unchanged: " .. memory .. ": write gpuadvise:auto, gpuadvise:auto:40G or gpuadvise:off")
    return
  end
  local json = slurm.json_cli_options(options)
  local partition = given(json, "partition") and options["partition"] or nil
  if what == nil and not is_default(partition) then return end
  local answer, trouble, nothing = nil, "it asks for no GPU", true
  if given(json, "uid") then
    trouble = "--uid: the daemon would answer for you, not for that user"
  elseif asks_for_gpus(json) then
    local line
    line, trouble = question(options, json, memory or "")
    nothing = false
    if line ~= nil then answer, trouble, nothing = read(ask(line)) end
  end
  if answer ~= nil and apply(options, json, answer) then
    advice = answer.advice_id
    say(answer.why or "chosen")
    if answer.limit ~= nil then say(answer.limit) end
  elseif what == "auto" or not nothing then
    say("job unchanged: " .. (trouble or "nothing to choose"))
  end
end

-- For a site's own slurm_cli_pre_submit: never fails, never stops a job.
function gpuadvise.pre_submit(options, offset)
  local good, trouble = pcall(choose, options, offset)
  if not good then pcall(say, "job unchanged: " .. tostring(trouble)) end
  return slurm.SUCCESS
end

-- For a site's own slurm_cli_post_submit: tells the daemon, so that the next to ask is not promised
-- the same GPUs. Silent: the job is in.
function gpuadvise.post_submit(offset, job, step)
  pcall(function()
    if advice == nil or (offset or 0) > 0 then return end
    local words = call()
    table.insert(words, "--advice=" .. advice)
    table.insert(words, "--submitted=" .. string.format("%d", job))
    advice = nil
    ask(line_of(words))
  end)
  return slurm.SUCCESS
end

-- Slurm wants all three; what a site has defined before, or defines later, wins.
slurm_cli_pre_submit = slurm_cli_pre_submit or gpuadvise.pre_submit
slurm_cli_setup_defaults = slurm_cli_setup_defaults or function() return slurm.SUCCESS end
slurm_cli_post_submit = slurm_cli_post_submit or gpuadvise.post_submit

return gpuadvise
