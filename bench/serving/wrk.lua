-- Sends the bodies of some files in turn, and tells in the end how it went.
-- wrk ... -- path number-of-files file ... [header value ...]

local requests, turn = {}, 0

function init(arguments)
   local path, n_files = arguments[1], tonumber(arguments[2])
   local headers = {}
   for place = 3 + n_files, #arguments, 2 do
      headers[arguments[place]] = arguments[place + 1]
   end
   for place = 3, 2 + n_files do
      local file = assert(io.open(arguments[place], "rb"))
      requests[#requests + 1] = wrk.format("POST", path, headers, file:read("*a"))
      file:close()
   end
end

function request()
   turn = turn % #requests + 1
   return requests[turn]
end

function done(summary, latency, _)
   local errors = summary.errors
   io.write(string.format(
      '\nturn {"requests": %d, "seconds": %.6f, "p50": %.6f, "p99": %.6f, "refused": %d, "broken": %d, "late": %d}\n',
      summary.requests, summary.duration / 1e6,
      latency:percentile(50) / 1e6, latency:percentile(99) / 1e6,
      errors.status, errors.connect + errors.read + errors.write, errors.timeout))
end
