-- Adjusts any of the payments by the least amount there is.
local farthing = require("farthing")
local payments = farthing.lines("BENCH_PAYMENTS")

function request()
  local number = farthing.next()
  return farthing.patch("/v1/tx/" .. payments[math.random(#payments)] .. "/state", string.format(
    '{"toStateId":"ADJUSTED","options":{"adjustment":{"adjustmentAmount":"1"}},'
      .. '"tags":["bench","refund"],"annotations":{"return":"%d"}}', number))
end
