-- Posts the file named by the first argument, again and again.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  wrk.body = file:read("*a")
  file:close()
end
