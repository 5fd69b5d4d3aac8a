-- Registers bank accounts, one after the other for each of the customers.
local farthing = require("farthing")
local customers = farthing.lines("BENCH_CUSTOMERS")

function request()
  local number = farthing.next()
  return farthing.post("/v1/bank-accounts", string.format(
    '{"ownerId":"%s","currencyISO":"GBP","countryISO":"GB","accountNumber":"%08d",'
      .. '"sortCode":"108800","billingAddress":{"street":"High Street","countryISO":"GB"},'
      .. '"tags":["bench","salary"],"annotations":{"order":"%d"}}',
    customers[number % #customers + 1], number % 100000000, number))
end
