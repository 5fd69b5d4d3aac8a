-- Holds money as escrow, and releases whatever is held before it holds more.
local farthing = require("farthing")
local money = require("money")
local held = {}

function request()
  local id = table.remove(held)
  if id == nil then
    local payer, payee = money.pair()
    return money.transfer(payer, payee, "HELD")
  end
  return farthing.patch("/v1/tx/tx/" .. id .. "/state", string.format(
    '{"fromStateId":"HELD","toStateId":"EFFECTED","tags":["released"],'
      .. '"annotations":{"delivery":"%d"}}', farthing.next()))
end

-- wrk hands an answer over before it asks for the next request of the same connection.
function response(status, _, body)
  if status == 201 then
    held[#held + 1] = body:match('"id":"transaction/([^"]+)"')
  end
end
