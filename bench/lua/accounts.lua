-- Opens accounts, one after the other for each of the customers.
local farthing = require("farthing")
local customers = farthing.lines("BENCH_CUSTOMERS")

function request()
  local number = farthing.next()
  return farthing.post("/v1/accounts", string.format(
    '{"ownerId":"%s","currencyISO":"GBP","tags":["bench","escrow"],'
      .. '"annotations":{"order":"%d","channel":"web"}}',
    customers[number % #customers + 1], number))
end
