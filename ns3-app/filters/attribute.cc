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
RangeOf(const Leaf* leaf)
{
    Range range;
    range.low = Operand(leaf[0].value);
    range.high = Operand(leaf[1].value);
    range.lowClosed = leaf[0].op == Operator::FROM;
    range.highClosed = leaf[1].op == Operator::LE;
    return range;
}

Threshold
ThresholdOf(const Leaf* leaf)
{
    Threshold threshold;
    threshold.value = Operand(leaf->value);
    return threshold;
}

} // namespace

void
Attribute::Add(const Leaf* leaf, uintptr_t item)
{
    if (leaf->op != Operator::EQ)
    {
        if (!m_others)
        {
            m_others.reset(new Others());
        }
        m_others->items++;
        m_others->Add(leaf, item);
        return;
    }
    Equality* slot = FindEquality(leaf->value);
    if (!slot)
    {
        Equality fresh;
        fresh.value = Operand(leaf->value);
        slot = m_equal.Insert(std::move(fresh));
    }
    slot->posting.Add(item);
}

void
Attribute::Remove(const Leaf* leaf, uintptr_t item)
{
    if (leaf->op != Operator::EQ)
    {
        if (!m_others)
        {
            return;
        }
        m_others->Remove(leaf, item);
        if (--m_others->items == 0)
        {
            m_others.reset();
        }
        return;
    }
    if (Equality* slot = FindEquality(leaf->value))
    {
        slot->posting.Remove(item);
        if (slot->posting.IsEmpty())
        {
            m_equal.Erase(slot);
        }
    }
}

void
Attribute::Others::Add(const Leaf* leaf, uintptr_t item)
{
    if (leaf->op == Operator::EXISTS)
    {
        exists.Add(item);
        return;
    }
    if (leaf->value.IsText() && !texts)
    {
        texts.reset(new Texts());
    }
    if (leaf->value.IsNumber() && !numbers)
    {
        numbers.reset(new Numbers());
    }
    Numbers& side = leaf->value.IsText() ? *texts : *numbers;
    switch (leaf->op)
    {
    case Operator::PREFIX:
    case Operator::SUFFIX:
    case Operator::CONTAINS:
        texts->patterns[Place(leaf->op, Operator::PREFIX)].Add(leaf->value, item);
        break;
    case Operator::FROM:
    case Operator::ABOVE:
        side.ranges.Add(RangeOf(leaf), item);
        break;
    default:
        side.thresholds[Place(leaf->op, Operator::NE)].Add(ThresholdOf(leaf), item);
    }
}

void
Attribute::Others::Remove(const Leaf* leaf, uintptr_t item)
{
    if (leaf->op == Operator::EXISTS)
    {
        exists.Remove(item);
        return;
    }
    Numbers* side = leaf->value.IsText() ? texts.get() : numbers.get();
    if (!side)
    {
        return;
    }
    switch (leaf->op)
    {
    case Operator::PREFIX:
    case Operator::SUFFIX:
    case Operator::CONTAINS:
        texts->patterns[Place(leaf->op, Operator::PREFIX)].Remove(leaf->value, item);
        break;
    case Operator::FROM:
    case Operator::ABOVE:
        side->ranges.Remove(RangeOf(leaf), item);
        break;
    default:
        side->thresholds[Place(leaf->op, Operator::NE)].Remove(ThresholdOf(leaf), item);
    }
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
