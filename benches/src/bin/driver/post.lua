-- Posts the file named by the first argument, again and again. Where the text of the second argument stands in it, each request has
-- another number.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"

local before, after
local number = 0

function setup(thread)
  number = number + 1000000000
  thread:set("first", number)
end

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  wrk.body = file:read("*a")
  file:close()
  local from, to = wrk.body:find(arguments[2], 1, true)
  if from then
    before, after = wrk.body:sub(1, from - 1), wrk.body:sub(to + 1)
    number = first
    request = numbered
  end
end

function numbered()
  number = number + 1
  return wrk.format(nil, nil, nil, before .. number .. after)
end
