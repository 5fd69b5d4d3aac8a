-- What the scenarios with money share: any two accounts, and a transfer between them.
local farthing = require("farthing")
local money = { accounts = farthing.lines("BENCH_ACCOUNTS") }

-- Any account but the one at this place.
function money.other(place)
  local found = math.random(#money.accounts - 1)
  return found < place and found or found + 1
end

-- Any two accounts.
function money.pair()
  local payee = math.random(#money.accounts)
  return money.other(payee), payee
end

-- The least amount there is, from one place to another.
function money.transfer(payer, payee, target)
  local number = farthing.next()
  return farthing.post("/v1/tx/internal", string.format(
    '{"fromAccountId":"%s","toAccountId":"%s","amount":"1","purpose":"TRANSFER",'
      .. '"targetStateId":"%s","tags":["bench","rent"],'
      .. '"annotations":{"order":"%d","channel":"web"}}',
    money.accounts[payer], money.accounts[payee], target, number))
end

return money
