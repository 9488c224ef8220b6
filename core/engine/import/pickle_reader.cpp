// SPDX-License-Identifier: GPL-3.0-or-later
#include "pickle_reader.h"

#include "pickle_cursor.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace kernelwright
{

namespace
{

using Kind = PickleValue::Kind;

/// The stack machine that a pickle is a program for.
class Reader
{
public:
    Reader(std::string_view bytes, const std::string &what)
        : bytes_(bytes, what)
    {}

    Result<Pickle> run()
    {
        while (!stopped_) {
            if (!step()) return tl::unexpected<Error>(bytes_.error());
        }
        if (stack_.size() != 1 || !stack_.back()) {
            bytes_.malformed();
            return tl::unexpected<Error>(bytes_.error());
        }
        pickle_.root = stack_.back();
        return std::move(pickle_);
    }

private:
    using Entry = PickleValue *; // nullptr is a mark

    Entry make(Kind kind)
    {
        pickle_.values.emplace_back();
        pickle_.values.back().kind = kind;
        return &pickle_.values.back();
    }

    Entry makeInt(std::int64_t integer)
    {
        const Entry value = make(Kind::Int);
        value->integer = integer;
        return value;
    }

    Entry makeText(Kind kind, std::string text)
    {
        const Entry value = make(kind);
        value->text = std::move(text);
        return value;
    }

    bool push(Entry value)
    {
        if (stack_.size() >= largestStack)
            return bytes_.problem(ErrorCode::BadInput, "needs an absurdly deep stack");
        stack_.push_back(value);
        return true;
    }

    // Marks are null entries; everything above the last mark belongs together.
    bool popToMark(std::vector<Entry> &items)
    {
        const auto mark = std::find(stack_.rbegin(), stack_.rend(), nullptr);
        if (mark == stack_.rend()) return bytes_.malformed();
        items.assign(mark.base(), stack_.end());
        stack_.erase(mark.base() - 1, stack_.end());
        return true;
    }

    bool pop(Entry &value)
    {
        if (stack_.empty() || !stack_.back()) return bytes_.malformed();
        value = stack_.back();
        stack_.pop_back();
        return true;
    }

    bool pushSized(std::size_t width, Kind kind)
    {
        std::uint64_t length = 0;
        std::string_view piece;
        return bytes_.takeNumber(width, length) && bytes_.take(length, piece) &&
               push(makeText(kind, std::string(piece)));
    }

    bool pushTuple(std::size_t count)
    {
        const Entry tuple = make(Kind::Tuple);
        std::vector<Entry> items(count);
        for (std::size_t i = count; i-- > 0;)
            if (!pop(items[i])) return false;
        tuple->items.assign(items.begin(), items.end());
        return push(tuple);
    }

    bool pushBool(bool flag)
    {
        const Entry value = make(Kind::Bool);
        value->flag = flag;
        return push(value);
    }

    bool pushFloat()
    {
        std::string_view piece;
        if (!bytes_.take(8, piece)) return false;
        std::uint64_t bits = 0;
        for (const char c : piece)
            bits = (bits << 8) | static_cast<unsigned char>(c); // big-endian, unlike all else
        const Entry value = make(Kind::Float);
        std::memcpy(&value->number, &bits, sizeof bits);
        return push(value);
    }

    bool pushLong(std::size_t lengthWidth)
    {
        std::uint64_t length = 0;
        std::string_view piece;
        if (!bytes_.takeNumber(lengthWidth, length) || !bytes_.take(length, piece)) return false;
        if (piece.empty()) return push(makeInt(0));
        const bool negative = static_cast<signed char>(piece.back()) < 0;
        std::uint64_t number = negative ? ~std::uint64_t{0} : 0;
        for (std::size_t i = 0; i < piece.size(); ++i) {
            const auto byte = static_cast<unsigned char>(piece[i]);
            if (i >=
                8) { // only sign bytes may follow: torch.save's legacy magic number is the known exception
                if (byte != (negative ? 0xFF : 0))
                    return bytes_.problem(ErrorCode::BadInput, "holds an integer of more than 64 bits");
                continue;
            }
            number &= ~(std::uint64_t{0xFF} << (8 * i));
            number |= std::uint64_t{byte} << (8 * i);
        }
        return push(makeInt(static_cast<std::int64_t>(number)));
    }

    bool pushGlobal(const std::string &name)
    {
        if (!isTensorGlobal(name)) {
            std::string dotted = name;
            std::replace(dotted.begin(), dotted.end(), ' ', '.');
            return bytes_.problem(ErrorCode::NotSupported,
                                  "refers to the Python object '" + dotted + "', which is code, not tensors");
        }
        return push(makeText(Kind::Global, name));
    }

    bool stackGlobal()
    {
        Entry name = nullptr;
        Entry module = nullptr;
        if (!pop(name) || !pop(module)) return false;
        if (name->kind != Kind::String || module->kind != Kind::String) return bytes_.malformed();
        return pushGlobal(module->text + " " + name->text);
    }

    bool reduce()
    {
        Entry arguments = nullptr;
        Entry function = nullptr;
        if (!pop(arguments) || !pop(function)) return false;
        if (function->kind != Kind::Global || arguments->kind != Kind::Tuple) return bytes_.malformed();
        if (function->text == "collections OrderedDict") return push(make(Kind::Dict));
        const Entry call = makeText(Kind::Call, function->text);
        call->items = arguments->items;
        return push(call);
    }

    // The state of an object: torch.save writes it for attributes of an OrderedDict or a parameter, which we
    // do not need.
    bool build()
    {
        Entry state = nullptr;
        if (!pop(state)) return false;
        return (!stack_.empty() && stack_.back()) || bytes_.malformed();
    }

    bool addItems(const std::vector<Entry> &items)
    {
        if (stack_.empty() || !stack_.back() || stack_.back()->kind != Kind::List) return bytes_.malformed();
        if (std::find(items.begin(), items.end(), nullptr) != items.end()) return bytes_.malformed();
        PickleValue &list = *stack_.back();
        list.items.insert(list.items.end(), items.begin(), items.end());
        return true;
    }

    bool addEntries(const std::vector<Entry> &items)
    {
        if (stack_.empty() || !stack_.back() || stack_.back()->kind != Kind::Dict || items.size() % 2)
            return bytes_.malformed();
        if (std::find(items.begin(), items.end(), nullptr) != items.end()) return bytes_.malformed();
        PickleValue &dict = *stack_.back();
        for (std::size_t i = 0; i < items.size(); i += 2)
            dict.entries.emplace_back(items[i], items[i + 1]);
        return true;
    }

    bool memoPut(std::uint64_t index)
    {
        if (stack_.empty() || !stack_.back()) return bytes_.malformed();
        memo_[index] = stack_.back();
        return true;
    }

    bool memoGet(std::uint64_t index)
    {
        const auto found = memo_.find(index);
        return found == memo_.end() ? bytes_.malformed() : push(found->second);
    }

    bool step();
    bool stepContainer(unsigned char opcode);
    bool stepMemo(unsigned char opcode);
    bool stepValue(unsigned char opcode);
    bool unknown(unsigned char opcode)
    {
        return bytes_.problem(ErrorCode::BadInput, "uses pickle instruction " + std::to_string(opcode) +
                                                       " (byte " + std::to_string(bytes_.position() - 1) +
                                                       "), which torch.save does not write");
    }

    static constexpr std::size_t largestStack = 1U << 22;
    Pickle pickle_;
    PickleCursor bytes_;
    bool stopped_ = false;
    std::vector<Entry> stack_;
    std::map<std::uint64_t, Entry> memo_;
};

bool Reader::step()
{
    std::string_view piece;
    if (!bytes_.take(1, piece)) return false;
    const auto opcode = static_cast<unsigned char>(piece[0]);
    std::uint64_t ignored = 0;
    switch (opcode) {
    case 0x80:
        return bytes_.takeNumber(1, ignored); // PROTO
    case 0x95:
        return bytes_.takeNumber(8, ignored); // FRAME
    case '.':
        stopped_ = true;
        return true;
    case '(':
        return push(nullptr);
    case '0': // POP
        if (stack_.empty()) return bytes_.malformed();
        stack_.pop_back();
        return true;
    case 'R':
        return reduce();
    case 'b':
        return build();
    case 'c': {
        std::string module;
        std::string name;
        return bytes_.takeLine(module) && bytes_.takeLine(name) && pushGlobal(module + " " + name);
    }
    case 0x93:
        return stackGlobal();
    case 'Q': { // BINPERSID
        const Entry value = make(Kind::Persistent);
        Entry id = nullptr;
        if (!pop(id)) return false;
        value->items.push_back(id);
        return push(value);
    }
    default:
        return stepValue(opcode);
    }
}

bool Reader::stepValue(unsigned char opcode)
{
    std::uint64_t number = 0;
    switch (opcode) {
    case 'N':
        return push(make(Kind::None));
    case 0x88:
        return pushBool(true);
    case 0x89:
        return pushBool(false);
    case 'K':
        return bytes_.takeNumber(1, number) && push(makeInt(static_cast<std::int64_t>(number)));
    case 'M':
        return bytes_.takeNumber(2, number) && push(makeInt(static_cast<std::int64_t>(number)));
    case 'J':
        return bytes_.takeNumber(4, number) && push(makeInt(static_cast<std::int32_t>(number)));
    case 0x8a:
        return pushLong(1);
    case 0x8b:
        return pushLong(4);
    case 'G':
        return pushFloat();
    case 'X':
        return pushSized(4, Kind::String);
    case 0x8c:
        return pushSized(1, Kind::String);
    case 0x8d:
        return pushSized(8, Kind::String);
    case 'T':
        return pushSized(4, Kind::String);
    case 'U':
        return pushSized(1, Kind::String);
    case 'B':
        return pushSized(4, Kind::Bytes);
    case 'C':
        return pushSized(1, Kind::Bytes);
    default:
        return stepContainer(opcode);
    }
}

bool Reader::stepContainer(unsigned char opcode)
{
    std::vector<Entry> items;
    switch (opcode) {
    case ')':
        return push(make(Kind::Tuple));
    case ']':
        return push(make(Kind::List));
    case '}':
        return push(make(Kind::Dict));
    case 0x85:
        return pushTuple(1);
    case 0x86:
        return pushTuple(2);
    case 0x87:
        return pushTuple(3);
    case 't': {
        const Entry tuple = make(Kind::Tuple);
        if (!popToMark(items)) return false;
        tuple->items.assign(items.begin(), items.end());
        return push(tuple);
    }
    case 'l': {
        const Entry list = make(Kind::List);
        if (!popToMark(items)) return false;
        list->items.assign(items.begin(), items.end());
        return push(list);
    }
    case 'a':
        items.resize(1);
        return pop(items[0]) && addItems(items);
    case 'e':
        return popToMark(items) && addItems(items);
    case 's':
        items.resize(2);
        return pop(items[1]) && pop(items[0]) && addEntries(items);
    case 'u':
        return popToMark(items) && addEntries(items);
    default:
        return stepMemo(opcode);
    }
}

bool Reader::stepMemo(unsigned char opcode)
{
    std::uint64_t index = 0;
    switch (opcode) {
    case 'q':
        return bytes_.takeNumber(1, index) && memoPut(index);
    case 'r':
        return bytes_.takeNumber(4, index) && memoPut(index);
    case 0x94:
        return memoPut(memo_.size());
    case 'h':
        return bytes_.takeNumber(1, index) && memoGet(index);
    case 'j':
        return bytes_.takeNumber(4, index) && memoGet(index);
    default:
        return unknown(opcode);
    }
}

} // namespace

Result<Pickle> readPickle(std::string_view bytes, const std::string &what)
{
    return Reader(bytes, what).run();
}

const PickleValue *findEntry(const PickleValue &dict, std::string_view key)
{
    for (const auto &[name, value] : dict.entries)
        if (name->kind == Kind::String && name->text == key) return value;
    return nullptr;
}

} // namespace kernelwright
