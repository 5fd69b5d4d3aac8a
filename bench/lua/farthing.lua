-- What every scenario shares: who asks, keys that never repeat, and the report at the end.
local farthing = {}

local run = os.getenv("BENCH_RUN")
local headers = {
  ["Content-Type"] = "application/json",
  ["X-Token"] = os.getenv("BENCH_TOKEN"),
}
local count = 0

-- The lines of the file that a fact names.
function farthing.lines(fact)
  local lines = {}
  for line in io.lines(os.getenv(fact)) do
    lines[#lines + 1] = line
  end
  return lines
end

-- A number that counts the requests up.
function farthing.next()
  count = count + 1
  return count
end

local function write(method, path, body)
  headers["Idempotency-Key"] = run .. "-" .. count
  return wrk.format(method, path, headers, body)
end

-- One request with a key of its own, and so is the next.
function farthing.post(path, body)
  return write("POST", path, body)
end

function farthing.patch(path, body)
  return write("PATCH", path, body)
end

-- One request that only reads.
function farthing.get(path)
  return wrk.format("GET", path, headers)
end

-- wrk calls this once, after the last answer.
function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'farthing-report {"requests":%d,"duration":%d,"p50":%f,"p99":%f,"errors":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end

return farthing
