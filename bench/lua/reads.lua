-- Reads one customer after the other.
local farthing = require("farthing")
local customers = farthing.lines("BENCH_CUSTOMERS")

function request()
  local number = farthing.next()
  return farthing.get("/v1/customers/" .. customers[number % #customers + 1])
end
