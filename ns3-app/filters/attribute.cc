#include "attribute.h"

namespace pysim
{

namespace
{

/// The place of an operator among those that begin with `first`.
size_t
Place(Operator op, Operator first)
{
    return static_cast<size_t>(op) - static_cast<size_t>(first);
}

Range
RangeOf(const Condition& condition)
{
    Range range;
    range.low = Operand(condition.value);
    range.high = Operand(condition.high);
    range.lowClosed = condition.op == Operator::FROM;
    range.highClosed = condition.highOp == Operator::LE;
    return range;
}

Threshold
ThresholdOf(const Condition& condition)
{
    Threshold threshold;
    threshold.value = Operand(condition.value);
    return threshold;
}

} // namespace

void
Attribute::Add(const Condition& condition, uintptr_t item)
{
    if (condition.op != Operator::EQ)
    {
        if (!m_others)
        {
            m_others.reset(new Others());
        }
        m_others->items++;
        m_others->Add(condition, item);
        return;
    }
    Equality* slot = FindEquality(condition.value);
    if (!slot)
    {
        Equality fresh;
        fresh.value = Operand(condition.value);
        slot = m_equal.Insert(std::move(fresh));
    }
    slot->posting.Add(item);
}

void
Attribute::Remove(const Condition& condition, uintptr_t item)
{
    if (condition.op != Operator::EQ)
    {
        if (!m_others)
        {
            return;
        }
        m_others->Remove(condition, item);
        if (--m_others->items == 0)
        {
            m_others.reset();
        }
        return;
    }
    if (Equality* slot = FindEquality(condition.value))
    {
        slot->posting.Remove(item);
        if (slot->posting.IsEmpty())
        {
            m_equal.Erase(slot);
        }
    }
}

void
Attribute::Others::Add(const Condition& condition, uintptr_t item)
{
    if (condition.op == Operator::EXISTS)
    {
        exists.Add(item);
        return;
    }
    if (condition.value.IsText() && !texts)
    {
        texts.reset(new Texts());
    }
    if (condition.value.IsNumber() && !numbers)
    {
        numbers.reset(new Numbers());
    }
    Numbers& side = condition.value.IsText() ? *texts : *numbers;
    switch (condition.op)
    {
    case Operator::PREFIX:
    case Operator::SUFFIX:
    case Operator::CONTAINS:
        texts->patterns[Place(condition.op, Operator::PREFIX)].Add(condition.value, item);
        break;
    case Operator::FROM:
    case Operator::ABOVE:
        side.ranges.Add(RangeOf(condition), item);
        break;
    default:
        side.thresholds[Place(condition.op, Operator::NE)].Add(ThresholdOf(condition), item);
    }
}

void
Attribute::Others::Remove(const Condition& condition, uintptr_t item)
{
    if (condition.op == Operator::EXISTS)
    {
        exists.Remove(item);
        return;
    }
    Numbers* side = condition.value.IsText() ? texts.get() : numbers.get();
    if (!side)
    {
        return;
    }
    switch (condition.op)
    {
    case Operator::PREFIX:
    case Operator::SUFFIX:
    case Operator::CONTAINS:
        texts->patterns[Place(condition.op, Operator::PREFIX)].Remove(condition.value, item);
        break;
    case Operator::FROM:
    case Operator::ABOVE:
        side->ranges.Remove(RangeOf(condition), item);
        break;
    default:
        side->thresholds[Place(condition.op, Operator::NE)].Remove(ThresholdOf(condition), item);
    }
}

const Posting*
Attribute::Find(const Condition& condition) const
{
    if (condition.op != Operator::EQ)
    {
        return m_others ? m_others->Find(condition) : nullptr;
    }
    const Equality* slot = FindEquality(condition.value);
    return slot ? &slot->posting : nullptr;
}

const Posting*
Attribute::Others::Find(const Condition& condition) const
{
    if (condition.op == Operator::EXISTS)
    {
        return &exists;
    }
    const Numbers* side = condition.value.IsText() ? texts.get() : numbers.get();
    if (!side)
    {
        return nullptr;
    }
    switch (condition.op)
    {
    case Operator::PREFIX:
    case Operator::SUFFIX:
    case Operator::CONTAINS:
        return texts->patterns[Place(condition.op, Operator::PREFIX)].Find(condition.value);
    case Operator::FROM:
    case Operator::ABOVE:
        return side->ranges.Find(RangeOf(condition));
    default:
        return side->thresholds[Place(condition.op, Operator::NE)].Find(ThresholdOf(condition));
    }
}

size_t
Attribute::Bytes() const
{
    return m_equal.Bytes() + (m_others ? m_others->Bytes() : 0);
}

size_t
Attribute::Numbers::Bytes() const
{
    size_t bytes = ranges.Bytes();
    for (const auto& values : thresholds)
    {
        bytes += values.Bytes();
    }
    return bytes;
}

size_t
Attribute::Others::Bytes() const
{
    size_t bytes = sizeof(Others);
    if (numbers)
    {
        bytes += sizeof(Numbers) + numbers->Bytes();
    }
    if (texts)
    {
        bytes += sizeof(Texts) + texts->Bytes();
        for (const Patterns& patterns : texts->patterns)
        {
            bytes += patterns.Bytes();
        }
    }
    return bytes;
}

void
Attribute::Others::Collect(const Value& value, uint64_t match, Reached& reached)
{
    exists.AppendTo(reached);
    Numbers* side = value.IsText() ? texts.get() : numbers.get();
    if (!side)
    {
        return;
    }
    const auto isLess = [&](const Threshold& entry) {
        return entry.High().Compare(value) < 0;
    };
    const auto isUpTo = [&](const Threshold& entry) {
        return entry.High().Compare(value) <= 0;
    };
    const auto& [unequal, lt, le, gt, ge] = side->thresholds;
    unequal.Collect(isLess, true, reached);
    unequal.Collect(isUpTo, false, reached);
    lt.Collect(isUpTo, false, reached);
    le.Collect(isLess, false, reached);
    gt.Collect(isLess, true, reached);
    ge.Collect(isUpTo, true, reached);
    side->ranges.CollectContaining(value, reached);
    if (value.IsText())
    {
        PartHashes parts(value.Text());
        for (const Operator op : {Operator::PREFIX, Operator::SUFFIX, Operator::CONTAINS})
        {
            Patterns& patterns = texts->patterns[Place(op, Operator::PREFIX)];
            if (!patterns.IsEmpty())
            {
                patterns.Collect(op, value.Text(), parts, match, reached);
            }
        }
    }
}

} // namespace pysim
