-- Registers cards with a new number each, one after the other for each of the customers.
local farthing = require("farthing")
local customers = farthing.lines("BENCH_CUSTOMERS")

-- The digit that makes a number of 15 digits a card number.
local function check_digit(digits)
  local sum = 0
  for place = 1, 15 do
    local digit = tonumber(digits:sub(place, place))
    if place % 2 == 1 then
      digit = digit * 2
      if digit > 9 then digit = digit - 9 end
    end
    sum = sum + digit
  end
  return (10 - sum % 10) % 10
end

function request()
  local number = farthing.next()
  local digits = string.format("49%013d", number)
  return farthing.post("/v1/cards", string.format(
    '{"ownerId":"%s","cardNumber":"%s%d","expiry":"1235","cvv":"123",'
      .. '"billingAddress":{"street":"High Street","countryISO":"GB"},'
      .. '"tags":["bench"],"annotations":{"order":"%d"}}',
    customers[number % #customers + 1], digits, check_digit(digits), number))
end
