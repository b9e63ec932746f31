-- Reads frames of pysim's wire format (docs/wire-format.md) for Wireshark and tshark.
--
-- It knows no message type and no filter operator: those come in the table WIRE, which pysim writes
-- in front of this text from its own registry. A body is malformed here exactly if brokers say so.
-- Runs on Lua 5.2 (Wireshark up to 4.2, all numbers are floats) and on Lua 5.4.

if package.loaded["pysim.dissector"] then  -- as a plugin: no protocol can be registered twice
    return
end
package.loaded["pysim.dissector"] = true

local MAX_NESTING = 16      -- frames inside frames that are shown as such
local MAX_ITEMS = 10000     -- items of one list that are shown one by one
local MAX_BRIEF = 160       -- bytes of a text in a one-line summary
local TWO_32 = 4294967296.0
local EXACT = 9007199254740992.0  -- from here on a float does not hold every integer

---------------------------------------------------------------------------------------------------
-- Texts, as Python and pysim's filter language write them
---------------------------------------------------------------------------------------------------

local ESCAPES = {
    ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
    ["\b"] = "\\b", ["\f"] = "\\f",
}

local function quoted(text)
    return '"' .. text:gsub('[\0-\31"\\]', function(character)
        return ESCAPES[character] or string.format("\\u%04x", character:byte())
    end) .. '"'
end

-- Wireshark's texts end at a NUL and its lines at a line feed: such characters are shown by their
-- symbols, U+2400 and following, where they are not escaped.
local function printable(text)
    return (text:gsub("[\0-\31]", function(character)
        return "\226\144" .. string.char(128 + character:byte())
    end))
end

local function lower(text)  -- without asking the locale
    return (text:gsub("[A-Z]", function(letter) return string.char(letter:byte() + 32) end))
end

local function name_text(name)
    if name:find("^[A-Za-z_][A-Za-z0-9_.-]*$") and not WIRE.filters.keywords[lower(name)] then
        return name
    end
    return printable("`" .. name:gsub("`", "``") .. "`")
end

local function hex(bytes)
    return (bytes:gsub(".", function(byte) return string.format("%02x", byte:byte()) end))
end

local function shortened(text)
    if #text <= MAX_BRIEF then
        return text
    end
    local last = MAX_BRIEF
    while text:find("^[\128-\191]", last + 1) do  -- not in the middle of a character
        last = last - 1
    end
    return text:sub(1, last) .. "\226\128\166"
end

-- The fewest digits that read back as the same float, and the power of ten before which they begin.
local function digits_of(value)
    local text
    for precision = 0, 16 do
        text = string.format("%." .. precision .. "e", value)
        if tonumber(text) == value then
            break
        end
        -- Below a power of two floats lie closer: the digits nearest to it may not lead back, while
        -- the next ones above do.
        local above = text:gsub("(%d)e", function(digit) return (digit + 1) % 10 .. "e" end)
        if tonumber(above) == value then
            text = above
            break
        end
    end
    local sign, first, rest, exponent = text:match("^(-?)(%d)%D?(%d*)e([+-]%d+)$")
    return sign, first .. rest, tonumber(exponent) + 1
end

local function float_text(value)
    if value ~= value then
        return "nan"
    elseif value == math.huge then
        return "inf"
    elseif value == -math.huge then
        return "-inf"
    end
    local sign, digits, point = digits_of(value)
    if point <= -4 or point > 16 then
        local fraction = #digits > 1 and "." .. digits:sub(2) or ""
        return string.format("%s%s%se%+03d", sign, digits:sub(1, 1), fraction, point - 1)
    elseif point <= 0 then
        return sign .. "0." .. ("0"):rep(-point) .. digits
    elseif #digits <= point then
        return sign .. digits .. ("0"):rep(point - #digits) .. ".0"
    end
    return sign .. digits:sub(1, point) .. "." .. digits:sub(point + 1)
end

local function is_utf8(text)
    local at = text:find("[\128-\255]")
    while at do
        local lead, second = text:byte(at, at + 1)
        local width = lead < 0xE0 and 2 or lead < 0xF0 and 3 or 4
        local low = lead == 0xE0 and 0xA0 or lead == 0xF0 and 0x90 or 0x80
        local high = lead == 0xED and 0x9F or lead == 0xF4 and 0x8F or 0xBF
        if lead < 0xC2 or lead > 0xF4 or not second or second < low or second > high
            or not text:find("^" .. ("[\128-\191]"):rep(width - 2), at + 2) then
            return false
        end
        at = text:find("[\128-\255]", at + width)
    end
    return true
end

---------------------------------------------------------------------------------------------------
-- MessagePack: one token after the other
---------------------------------------------------------------------------------------------------

-- A cursor: the body as a Lua string, the place in it, and where floats can be read.
local function cursor(tvb, offset, length)
    return { raw = tvb:raw(offset, length), at = 1, tvb = tvb, base = offset - 1 }
end

local function fail(place, problem)
    error({ problem = problem, place = place }, 0)
end

local function take(c, count, place)
    local from = c.at
    if from + count - 1 > #c.raw then
        fail(place, "the body ends too early")
    end
    c.at = from + count
    return c.raw:sub(from, c.at - 1)
end

local function unsigned(c, width, place)
    local value = 0.0
    for _, byte in ipairs({ take(c, width, place):byte(1, -1) }) do
        value = value * 256 + byte
    end
    return value
end

local function plain_integer(number)
    return { tag = "int", number = number, text = string.format("%.0f", number) }
end

local function signed(c, width, place)
    local value = unsigned(c, width, place)
    local span = 256.0 ^ width
    return plain_integer(value < span / 2 and value or value - span)
end

local function long_integer(c, place, is_signed)
    local high, low = unsigned(c, 4, place), unsigned(c, 4, place)
    local made = (is_signed and Int64 or UInt64).new(low, high)
    if is_signed and high >= TWO_32 / 2 then
        high = high - TWO_32
    end
    local number = high * TWO_32 + low
    if math.abs(number) < EXACT then
        return plain_integer(number)
    end
    return {
        tag = "int", number = number, text = tostring(made), high = high, low = low,
        is_beyond = not is_signed and high >= TWO_32 / 2,
    }
end

local function float(c, width, place)
    local at = c.base + c.at
    take(c, width, place)
    return { tag = "float", number = c.tvb(at, width):float() }
end

local function text(c, length, place)
    local bytes = take(c, length, place)
    if not is_utf8(bytes) then
        fail(place, "a text is not UTF-8")
    end
    return { tag = "str", text = bytes }
end

local function binary(c, length, place)
    local from = c.at
    return { tag = "bytes", from = from, bytes = take(c, length, place) }
end

local function extension(c, length, place)
    take(c, 1 + length, place)
    return { tag = "ext" }
end

local function counted(tag)
    return function(_, count) return { tag = tag, count = count } end
end

local array, map = counted("array"), counted("object")

local function sized(make, width)  -- a length of `width` bytes, then what it is the length of
    return function(c, place) return make(c, unsigned(c, width, place), place) end
end

local function of(make, argument)
    return function(c, place) return make(c, argument, place) end
end

local function constant(token)
    return function() return token end
end

local TOKENS = {
    [0xC0] = constant({ tag = "None", text = "none" }),
    [0xC2] = constant({ tag = "bool", text = "false" }),
    [0xC3] = constant({ tag = "bool", text = "true" }),
    [0xC4] = sized(binary, 1), [0xC5] = sized(binary, 2), [0xC6] = sized(binary, 4),
    [0xC7] = sized(extension, 1), [0xC8] = sized(extension, 2), [0xC9] = sized(extension, 4),
    [0xCA] = of(float, 4), [0xCB] = of(float, 8),
    [0xCC] = function(c, place) return plain_integer(unsigned(c, 1, place)) end,
    [0xCD] = function(c, place) return plain_integer(unsigned(c, 2, place)) end,
    [0xCE] = function(c, place) return plain_integer(unsigned(c, 4, place)) end,
    [0xCF] = function(c, place) return long_integer(c, place, false) end,
    [0xD0] = of(signed, 1), [0xD1] = of(signed, 2), [0xD2] = of(signed, 4),
    [0xD3] = function(c, place) return long_integer(c, place, true) end,
    [0xD4] = of(extension, 1), [0xD5] = of(extension, 2), [0xD6] = of(extension, 4),
    [0xD7] = of(extension, 8), [0xD8] = of(extension, 16),
    [0xD9] = sized(text, 1), [0xDA] = sized(text, 2), [0xDB] = sized(text, 4),
    [0xDC] = sized(array, 2), [0xDD] = sized(array, 4),
    [0xDE] = sized(map, 2), [0xDF] = sized(map, 4),
}
for code = 0x00, 0x7F do TOKENS[code] = constant(plain_integer(code)) end
for code = 0x80, 0x8F do TOKENS[code] = of(map, code - 0x80) end
for code = 0x90, 0x9F do TOKENS[code] = of(array, code - 0x90) end
for code = 0xA0, 0xBF do TOKENS[code] = of(text, code - 0xA0) end
for code = 0xE0, 0xFF do TOKENS[code] = constant(plain_integer(code - 0x100)) end

local function token(c, place)
    local code = take(c, 1, place):byte()
    local read = TOKENS[code]
    if not read then
        fail(place, string.format("0x%02x begins nothing in MessagePack", code))
    end
    return read(c, place)
end

local function expect(c, tag, place)
    local found = token(c, place)
    if found.tag ~= tag then
        fail(place, "expected " .. tag .. ", found " .. found.tag)
    end
    return found
end

local function expect_array(c, count, place)
    local found = expect(c, "array", place)
    if found.count ~= count then
        fail(place, string.format("expected an array of %d, found %d", count, found.count))
    end
end

---------------------------------------------------------------------------------------------------
-- Filters
---------------------------------------------------------------------------------------------------

-- Equal numbers become the same number: a float that equals a 64-bit integer is that integer.
local function normalized(value, place)
    if value.tag == "int" and value.is_beyond then
        fail(place, "expected a signed integer of at most 64 bits")
    elseif value.tag == "float" then
        local number = value.number
        if number ~= number or math.abs(number) == math.huge then
            fail(place, "expected a finite number")
        elseif number == math.floor(number) and number >= -TWO_32 * TWO_32 / 2
            and number < TWO_32 * TWO_32 / 2 then
            local high = math.floor(number / TWO_32)
            local low = number - high * TWO_32
            return {
                tag = "int", number = number, high = high, low = low,
                text = tostring(Int64.new(low, high % TWO_32)),
            }
        end
        value.text = float_text(number)
    end
    return value
end

local function filter_value(c, place)
    local value = token(c, place)
    if value.tag ~= "int" and value.tag ~= "float" and value.tag ~= "str" then
        fail(place, "expected an integer, a float or a string, found " .. value.tag)
    end
    return normalized(value, place)
end

local function value_text(value)
    return value.tag == "str" and quoted(value.text) or value.text
end

-- Negative, zero or positive, as `a` is below, at or above `b`. Texts compare by their code points,
-- which UTF-8 keeps in order; Lua's own comparison would ask the locale.
local function compared(a, b)
    if a.tag == "str" then
        local at = 1
        while at <= #a.text and a.text:byte(at) == b.text:byte(at) do
            at = at + 1
        end
        return (a.text:byte(at) or -1) - (b.text:byte(at) or -1)
    elseif a.number ~= b.number then
        return a.number < b.number and -1 or 1
    elseif a.tag ~= b.tag then -- the float is 2^63, and the integer only rounds to it
        return a.tag == "int" and -1 or 1
    elseif not a.high or not b.high then
        return 0
    end
    return a.high ~= b.high and a.high - b.high or a.low - b.low
end

local function range_text(c, place, bounds)
    local low, high = filter_value(c, place .. "[2]"), filter_value(c, place .. "[3]")
    if (low.tag == "str") ~= (high.tag == "str") then
        fail(place, "expected two ends of one kind")
    end
    local order = compared(low, high)
    if order > 0 or (order == 0 and bounds ~= "[]") then
        fail(place, "expected a range that is not empty")
    end
    return bounds:sub(1, 1) .. value_text(low) .. ", " .. value_text(high) .. bounds:sub(2)
end

local function predicate(c, place, form, count)
    local length = form.form == "exists" and 2 or form.form == "range" and 4 or 3
    if count ~= length then
        fail(place, string.format("expected an array of %d, found %d", length, count))
    end
    local name = expect(c, "str", place .. "[1]").text
    if name == "" then
        fail(place .. "[1]", "expected the name of an attribute")
    end
    if form.form == "exists" then
        return form.word .. " " .. name_text(name)
    elseif form.form == "range" then
        return name_text(name) .. " " .. form.word .. " " .. range_text(c, place, form.bounds)
    end
    local value = filter_value(c, place .. "[2]")
    if form.form == "string" and value.tag ~= "str" then
        fail(place, "expected a string for " .. form.word)
    end
    return name_text(name) .. " " .. form.word .. " " .. value_text(value)
end

-- The text of a filter, and whether it needs brackets inside another one.
local function filter_text(c, place, depth)
    local count = expect(c, "array", place).count
    if depth > WIRE.filters.max_depth then
        fail(place, "expected at most " .. WIRE.filters.max_depth .. " levels")
    end
    local code = count > 0 and token(c, place .. "[0]") or { tag = "nothing" }
    local form = code.tag == "int" and WIRE.filters.codes[code.number]
    if not form then
        fail(place .. "[0]", "expected the code of a filter")
    elseif form.form ~= "junction" and form.form ~= "not" then
        return predicate(c, place, form, count), false
    elseif count < 2 or (form.form == "not" and count > 2) then
        fail(place, "expected " .. (form.form == "not" and "one filter" or "at least one filter"))
    end
    local parts = {}
    for number = 1, count - 1 do
        local part, is_junction = filter_text(c, place .. "[" .. number .. "]", depth + 1)
        parts[number] = is_junction and "(" .. part .. ")" or part
    end
    if form.form == "not" then
        return form.word .. " " .. parts[1], false
    end
    return table.concat(parts, " " .. form.word .. " "), true
end

---------------------------------------------------------------------------------------------------
-- Frames by their header
---------------------------------------------------------------------------------------------------

local TYPE_NAMES = {}
for code, kind in pairs(WIRE.types) do
    TYPE_NAMES[code] = kind.name
end

-- A byte string that is exactly one frame, as those of a batch are.
local function is_frame(bytes)
    if #bytes < WIRE.header_size or bytes:byte(5) ~= WIRE.version then
        return false
    end
    local a, b, c, d = bytes:byte(1, 4)
    return ((a * 256 + b) * 256 + c) * 256 + d == #bytes
end

local function title_of(bytes)
    local name = TYPE_NAMES[bytes:byte(6)] or "type-" .. bytes:byte(6)
    local numbers = {}
    for word = 0, 1 do
        local a, b, c, d = bytes:byte(9 + 4 * word, 12 + 4 * word)
        numbers[word + 1] = string.format("%.0f", ((a * 256.0 + b) * 256 + c) * 256 + d)
    end
    return name:upper() .. " " .. numbers[1] .. ":" .. numbers[2]
end

---------------------------------------------------------------------------------------------------
-- Fields: each form of value reads itself into a node with its place, its text and its value
---------------------------------------------------------------------------------------------------

local read  -- (cursor, kind, place) -> node

local function anything(c, place, depth)
    local found = token(c, place)
    if found.tag == "str" then
        return quoted(found.text)
    elseif found.tag == "float" then
        return float_text(found.number)
    elseif found.tag == "bytes" then
        return "0x" .. hex(found.bytes)
    elseif found.tag ~= "array" and found.tag ~= "object" then
        return found.text or found.tag
    elseif depth > WIRE.filters.max_depth then
        fail(place, "too many levels")
    end
    local parts = {}
    for number = 1, found.count do
        local part = anything(c, place, depth + 1)
        if found.tag == "object" then
            part = part .. ": " .. anything(c, place, depth + 1)
        end
        parts[number] = part
    end
    local inside = table.concat(parts, ", ")
    return found.tag == "array" and "[" .. inside .. "]" or "{" .. inside .. "}"
end

local function items(c, count, each)
    local found = {}
    for number = 1, count do
        found[number] = each(c, number - 1)
    end
    return found
end

local function briefs(nodes)
    local parts = {}
    for number, node in ipairs(nodes) do
        if number > MAX_BRIEF then
            break
        end
        parts[number] = node.brief or node.text
    end
    return table.concat(parts, ", ")
end

local READERS = {}

function READERS.int(c, _, place)
    local found = expect(c, "int", place)
    return { number = found.number, text = found.text, high = found.high, low = found.low }
end

function READERS.float(c, _, place)
    local found = token(c, place)
    if found.tag ~= "float" and found.tag ~= "int" then
        fail(place, "expected float, found " .. found.tag)
    end
    return { number = found.number, text = float_text(found.number) }
end

function READERS.text(c, _, place)
    return { text = printable(expect(c, "str", place).text) }
end

function READERS.choice(c, kind, place)
    local found = expect(c, "str", place).text
    if not kind.values[found] then
        fail(place, quoted(found) .. " is not one of the values allowed")
    end
    return { text = found }
end

function READERS.bytes(c, _, place)
    local found = expect(c, "bytes", place)
    local brief = is_frame(found.bytes) and title_of(found.bytes)
        or #found.bytes .. (#found.bytes == 1 and " byte" or " bytes")
    return { text = hex(found.bytes), bytes = found.bytes, inside = found.from, brief = brief }
end

function READERS.id(c, _, place)
    expect_array(c, 2, place)
    local origin = expect(c, "int", place .. "[0]").text
    return { text = origin .. ":" .. expect(c, "int", place .. "[1]").text }
end

function READERS.filter(c, _, place)
    return { text = (filter_text(c, place, 1)) }
end

function READERS.any(c, _, place)
    return { text = anything(c, place, 1) }
end

function READERS.optional(c, kind, place)
    if c.raw:byte(c.at) == 0xC0 then
        return { form = "none", text = token(c, place).text }
    end
    return read(c, kind.of, place)
end

function READERS.list(c, kind, place)
    local count = expect(c, "array", place).count
    local nodes = items(c, count, function(inside, number)
        return read(inside, kind.of, string.format("%s[%d]", place, number))
    end)
    return { items = nodes, text = briefs(nodes) }
end

function READERS.tuple(c, kind, place)
    expect_array(c, #kind.of, place)
    local nodes = items(c, #kind.of, function(inside, number)
        return read(inside, kind.of[number + 1], string.format("%s[%d]", place, number))
    end)
    local texts = {}
    for number, node in ipairs(nodes) do
        texts[number] = node.text
    end
    return { parts = nodes, text = table.concat(texts, ", "), brief = "(" .. briefs(nodes) .. ")" }
end

local function attribute(c, place)
    local from = c.at
    local name = expect(c, "str", place).text
    local value = token(c, place)
    if value.tag == "float" then
        value.text = float_text(value.number)
    elseif value.tag ~= "int" and value.tag ~= "str" then
        fail(place, "expected int | float | str, found " .. value.tag)
    end
    local line = name_text(name) .. " = " .. value_text(value)
    return { form = "text", from = from, to = c.at - 1, text = line }
end

function READERS.attributes(c, _, place)
    local count = expect(c, "object", place).count
    local nodes = items(c, count, function(inside) return attribute(inside, place .. "[...]") end)
    return { items = nodes, text = briefs(nodes) }
end

function read(c, kind, place)
    local from = c.at
    local node = READERS[kind.form](c, kind, place)
    node.form = node.form or kind.form
    node.from, node.to = from, c.at - 1
    return node
end

---------------------------------------------------------------------------------------------------
-- The tree of a packet
---------------------------------------------------------------------------------------------------

local pysim = Proto("pysim", "pysim, messages between publish/subscribe brokers")

local HEADER = {
    length = ProtoField.uint32("pysim.length", "Length"),
    version = ProtoField.uint8("pysim.version", "Version"),
    type = ProtoField.uint8("pysim.type", "Type", base.DEC, TYPE_NAMES),
    flags = ProtoField.uint16("pysim.flags", "Flags", base.HEX),
    origin = ProtoField.uint32("pysim.origin", "Origin"),
    sequence = ProtoField.uint32("pysim.sequence", "Sequence"),
    id = ProtoField.string("pysim.id", "Message id"),
    body = ProtoField.bytes("pysim.body", "Body"),
    undecoded = ProtoField.string("pysim.undecoded", "Body as MessagePack"),
}

local EXPERTS = {
    header = ProtoExpert.new("pysim.expert.bad_header", "This is no frame of pysim",
        expert.group.MALFORMED, expert.severity.ERROR),
    malformed = ProtoExpert.new("pysim.expert.malformed", "Malformed body",
        expert.group.MALFORMED, expert.severity.ERROR),
    unknown = ProtoExpert.new("pysim.expert.unknown_type", "Unknown message type",
        expert.group.UNDECODED, expert.severity.WARN),
    cut = ProtoExpert.new("pysim.expert.cut", "Not all bytes were captured",
        expert.group.UNDECODED, expert.severity.NOTE),
    hidden = ProtoExpert.new("pysim.expert.not_shown", "Not everything is shown",
        expert.group.UNDECODED, expert.severity.NOTE),
}

local STORAGE = {
    int = ProtoField.int64, float = ProtoField.double, bytes = ProtoField.bytes,
    text = ProtoField.string,
}

local FIELDS, COUNTS, all_fields, all_experts = {}, {}, {}, {}
for _, field in pairs(HEADER) do
    table.insert(all_fields, field)
end
for _, field in ipairs(WIRE.fields) do
    FIELDS[field.key] = STORAGE[field.storage]("pysim." .. field.key, field.name)
    table.insert(all_fields, FIELDS[field.key])
    if field.counted then
        COUNTS[field.key] = ProtoField.uint32("pysim." .. field.key .. ".count", field.name)
        table.insert(all_fields, COUNTS[field.key])
    end
end
for _, field in pairs(EXPERTS) do
    table.insert(all_experts, field)
end
pysim.fields = all_fields
pysim.experts = all_experts

local function flag(item, what, sentence)
    item:add_proto_expert_info(EXPERTS[what], sentence)
end

local dissect_frame  -- (tvb, pinfo, tree, depth) -> the frame's line in the info column

local function show_frame_inside(place, item, node)
    if not is_frame(node.bytes) then
        return
    elseif place.depth >= MAX_NESTING then
        flag(item, "hidden", "frames inside frames are shown down to level " .. MAX_NESTING)
        return
    end
    local inside = place.tvb(place.base + node.inside, #node.bytes):tvb()
    dissect_frame(inside, place.pinfo, item, place.depth + 1)
end

local function int64_of(node)
    return node.high and Int64.new(node.low, node.high % TWO_32) or Int64.new(node.number)
end

local show  -- (place, tree, field, node)

local function show_items(place, tree, field, range, node)
    local count = #node.items
    local item = tree:add(COUNTS[field.key], range, count)
    item:set_text(field.name .. " (" .. count .. ")" .. (count > 0 and ": " or "")
        .. shortened(node.text))
    for number = 1, math.min(count, MAX_ITEMS) do
        show(place, item, field, node.items[number])
    end
    if count > MAX_ITEMS then
        flag(item, "hidden", (count - MAX_ITEMS) .. " more " .. field.name .. " are not shown")
    end
end

function show(place, tree, field, node)
    local range = place.tvb(place.base + node.from, node.to - node.from + 1)
    local proto = FIELDS[field.key]
    if node.items then
        show_items(place, tree, field, range, node)
    elseif node.form == "int" then
        local item = tree:add(proto, range, int64_of(node))
        item:set_text(field.name .. ": " .. node.text)
    elseif node.form == "float" then
        tree:add(proto, range, node.number):set_text(field.name .. ": " .. node.text)
    elseif node.form == "none" then
        tree:add(range, field.name .. ": none")
    elseif node.form == "bytes" then
        local item = tree:add(proto, place.tvb(place.base + node.inside, #node.bytes))
        show_frame_inside(place, item, node)
    else
        local item = tree:add(proto, range, node.text)
        for _, part in ipairs(node.parts or {}) do
            if part.bytes then
                show_frame_inside(place, item, part)
            end
        end
    end
end

local BARE = { filter = true, attributes = true }  -- known by their looks in a summary

local function summary_of(field, node)
    local text = node.brief or node.text
    if node.form == "list" and #node.items == 0 or node.bytes == "" or text == "" then
        return nil
    end
    return (BARE[node.form] and "" or field.name .. " ") .. shortened(text)
end

-- Reads a body field by field into the tree; gives the summaries of what could be read.
local function read_body(place, kind, tree, c)
    local summaries = {}
    local count = expect(c, "array", "$").count
    if count < kind.required or count > #kind.fields then
        fail("$", string.format("%d fields instead of %d", count, #kind.fields))
    end
    for number = 1, count do
        local field = kind.fields[number]
        local node = read(c, field.kind, string.format("$[%d]", number - 1))
        show(place, tree, field, node)
        local summary = summary_of(field, node)
        if summary then
            table.insert(summaries, summary)
        end
    end
    if c.at <= #c.raw then
        fail("$", (#c.raw - c.at + 1) .. " bytes follow the body")
    end
    return table.concat(summaries, "; ")
end

local function show_unread(place, tree, c, is_cut, name, problem)
    local rest = place.tvb(place.base + 1, #c.raw)
    local item = tree:add(HEADER.body, rest)
    if is_cut then
        flag(item, "cut", "the body goes on after what was captured")
        return "[cut]"
    end
    local sentence = "malformed " .. name .. ": " .. problem.problem .. " at " .. problem.place
    flag(item, "malformed", sentence)
    return "[" .. sentence .. "]"
end

local function show_unknown(place, tree, c, code)
    local rest = place.tvb(place.base + 1, #c.raw)
    local item = tree:add(HEADER.body, rest)
    flag(item, "unknown", "message type " .. code .. " is not known to this version")
    local is_read, found = pcall(anything, c, "$", 1)
    if is_read and c.at > #c.raw then
        item:add(HEADER.undecoded, rest, found)
    end
    return "[unknown type]"
end

local function show_body(tvb, pinfo, tree, depth, code, is_cut)
    local length = tvb:len() - WIRE.header_size
    local c = cursor(tvb, WIRE.header_size, length)
    local place = { tvb = tvb, base = c.base, pinfo = pinfo, depth = depth }
    local kind = WIRE.types[code]
    if not kind then
        return show_unknown(place, tree, c, code)
    end
    local is_read, result = pcall(read_body, place, kind, tree, c)
    if is_read then
        return result
    elseif type(result) ~= "table" then
        error(result, 0)
    end
    return show_unread(place, tree, c, is_cut, kind.name, result)
end

local function show_header(tvb, tree)
    tree:add(HEADER.length, tvb(0, 4))
    tree:add(HEADER.version, tvb(4, 1))
    tree:add(HEADER.type, tvb(5, 1))
    tree:add(HEADER.flags, tvb(6, 2))
    tree:add(HEADER.origin, tvb(8, 4))
    tree:add(HEADER.sequence, tvb(12, 4))
end

-- What is wrong with a header, or nil. `available` is how many bytes came, where that must fit.
local function header_problem(tvb, offset, available)
    local length, version = tvb(offset, 4):uint(), tvb(offset + 4, 1):uint()
    if version ~= WIRE.version then
        return "wire version " .. version .. " is not version " .. WIRE.version
    elseif length < WIRE.header_size or length > WIRE.max_frame_size then
        return "frame length " .. length .. " is outside " .. WIRE.header_size .. ".."
            .. WIRE.max_frame_size .. " bytes"
    elseif available and available ~= length then
        return "a frame of " .. length .. " bytes came as " .. available .. " bytes"
    end
    return nil
end

local function refuse(tvb, tree, problem)
    local item = tree:add(pysim, tvb(), "pysim, no frame: " .. problem)
    flag(item, "header", problem)
    return "[" .. problem .. "]"
end

local function refuse_short(tvb, tree, captured, reported)
    if captured < reported then
        local item = tree:add(pysim, tvb(), "pysim, cut inside the header")
        flag(item, "cut", "the frame goes on after what was captured")
        return "[cut]"
    end
    return refuse(tvb, tree, string.format("a frame needs %d bytes of header, %d are there",
        WIRE.header_size, captured))
end

function dissect_frame(tvb, pinfo, tree, depth)
    local captured, reported = tvb:len(), tvb:reported_len()
    if captured < WIRE.header_size then
        return refuse_short(tvb, tree, captured, reported)
    end
    local problem = header_problem(tvb, 0, reported)
    if problem then
        return refuse(tvb, tree, problem)
    end
    local code, origin, sequence = tvb(5, 1):uint(), tvb(8, 4):uint(), tvb(12, 4):uint()
    local id = string.format("%.0f:%.0f", origin, sequence)
    local title = (TYPE_NAMES[code] or "type-" .. code):upper() .. " " .. id
    local item = tree:add(pysim, tvb(), "pysim " .. title .. ", " .. reported .. " bytes")
    show_header(tvb, item)
    item:add(HEADER.id, tvb(8, 8), id):set_generated()
    local summary = show_body(tvb, pinfo, item, depth, code, captured < reported)
    return summary == "" and title or title .. " " .. summary
end

---------------------------------------------------------------------------------------------------
-- TCP: frames follow each other without gaps. UDP: a datagram is a frame
---------------------------------------------------------------------------------------------------

local function announce(pinfo, line)
    local info = pinfo.cols.info
    if pinfo.private["pysim"] then  -- another frame of the same packet came before
        info:append(" | " .. line)
    else
        pinfo.cols.protocol:set("pysim")
        info:set(line)
        pinfo.private["pysim"] = "1"
    end
end

local function frame_length(tvb, _, offset)
    if header_problem(tvb, offset) then  -- where the next frame begins, nobody knows
        return math.max(WIRE.header_size, tvb:reported_len() - offset)
    end
    return tvb(offset, 4):uint()
end

local function dissect_whole(tvb, pinfo, tree)
    announce(pinfo, dissect_frame(tvb, pinfo, tree, 1))
    return tvb:len()
end

local UDP = 3  -- pinfo.port_type

function pysim.dissector(tvb, pinfo, tree)
    if pinfo.port_type == UDP then
        return dissect_whole(tvb, pinfo, tree)
    end
    dissect_tcp_pdus(tvb, tree, WIRE.header_size, frame_length, dissect_whole)
    return tvb:len()
end

for _, port in ipairs(WIRE.ports) do
    DissectorTable.get("tcp.port"):add(port, pysim)
    DissectorTable.get("udp.port"):add(port, pysim)
end
