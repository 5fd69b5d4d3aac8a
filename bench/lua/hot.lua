-- Moves money from any account to always the same one.
local money = require("money")

function request()
  return money.transfer(money.other(1), 1, "EFFECTED")
end
