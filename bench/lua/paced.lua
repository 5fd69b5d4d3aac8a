-- Moves money between any two of the accounts, and lets each caller pause before its next request.
local money = require("money")
local pause = tonumber(os.getenv("BENCH_PAUSE"))

function request()
  local payer, payee = money.pair()
  return money.transfer(payer, payee, "EFFECTED")
end

function delay()
  return pause
end
