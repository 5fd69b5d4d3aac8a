-- Moves money between any two of the accounts.
local money = require("money")

function request()
  local payer, payee = money.pair()
  return money.transfer(payer, payee, "EFFECTED")
end
