#include "screens.h"

#include <algorithm>

namespace pysim
{

namespace
{

uintptr_t
ItemOf(const Screen* screen)
{
    return reinterpret_cast<uintptr_t>(screen) | Item::SCREEN;
}

/// What hangs at an equality and has it as its door: it hangs nowhere else.
bool
HasDoor(uintptr_t item)
{
    return !(item & Item::FLAGS) && Screen::DoorOf(reinterpret_cast<const Subscription*>(item));
}

} // namespace

bool
Screens::Add(Subscription* subscription)
{
    const uint32_t home = Screen::HomeOf(subscription);
    if (home != Attributes::NONE)
    {
        AddAtAttribute(subscription, home);
        return true;
    }
    const Leaf* door = Screen::DoorOf(subscription);
    if (door)
    {
        AddAtEquality(subscription, door);
    }
    return door;
}

bool
Screens::Remove(Subscription* subscription)
{
    const uint32_t home = Screen::HomeOf(subscription);
    if (home != Attributes::NONE)
    {
        RemoveAtAttribute(subscription, home);
        return true;
    }
    const Leaf* door = Screen::DoorOf(subscription);
    if (door)
    {
        RemoveAtEquality(subscription, door);
    }
    return door;
}

void
Screens::Clear()
{
    m_atAttributes = List();
    m_atEqualities = List();
}

void
Screens::AddAtAttribute(Subscription* subscription, uint32_t home)
{
    auto screen = AtAttribute(home);
    if (screen == m_atAttributes.end())
    {
        m_atAttributes.emplace_back(new Screen(home));
        screen = m_atAttributes.end() - 1;
    }
    try
    {
        (*screen)->Add(subscription);
    }
    catch (...)
    {
        if ((*screen)->IsEmpty())
        {
            Drop(m_atAttributes, screen);
        }
        throw;
    }
}

void
Screens::RemoveAtAttribute(Subscription* subscription, uint32_t home)
{
    const auto screen = AtAttribute(home);
    (*screen)->Remove(subscription);
    if ((*screen)->IsEmpty())
    {
        Drop(m_atAttributes, screen);
    }
}

Screens::List::iterator
Screens::AtAttribute(uint32_t home)
{
    return std::find_if(m_atAttributes.begin(), m_atAttributes.end(), [&](const auto& screen) {
        return screen->Home() == home;
    });
}

void
Screens::AddAtEquality(Subscription* subscription, const Leaf* door)
{
    Attribute& attribute = m_attributes[door->attribute];
    Posting* posting = attribute.AtEquality(door->value);
    Screen* screen = AtEquality(posting);
    if (!screen)
    {
        screen = Gather(posting);
    }
    if (screen)
    {
        screen->Add(subscription);
    }
    else
    {
        attribute.Add(Condition(door), Item::Of(subscription));
    }
}

void
Screens::RemoveAtEquality(Subscription* subscription, const Leaf* door)
{
    Attribute& attribute = m_attributes[door->attribute];
    Screen* screen = AtEquality(attribute.AtEquality(door->value));
    if (!screen)
    {
        attribute.Remove(Condition(door), Item::Of(subscription));
        return;
    }
    screen->Remove(subscription);
    if (screen->IsEmpty())
    {
        attribute.Remove(Condition(door), ItemOf(screen));
        Drop(m_atEqualities,
             std::find_if(m_atEqualities.begin(), m_atEqualities.end(), [&](const auto& other) {
                 return other.get() == screen;
             }));
    }
}

Screen*
Screens::AtEquality(const Posting* posting)
{
    const uintptr_t first = posting && !posting->IsEmpty() ? *posting->begin() : 0;
    return first & Item::SCREEN && !(first & Item::DECIDED)
               ? reinterpret_cast<Screen*>(first & ~Item::FLAGS)
               : nullptr;
}

Screen*
Screens::Gather(Posting* posting)
{
    // Only powers of two, else a long list of which few have a door would be read at every insert.
    const uint32_t size = posting ? posting->Size() : 0;
    if (size < MANY || (size & (size - 1)) ||
        std::count_if(posting->begin(), posting->end(), HasDoor) < size / 2)
    {
        return nullptr;
    }
    m_atEqualities.emplace_back(new Screen(Attributes::NONE));
    Screen* screen = m_atEqualities.back().get();
    try
    {
        for (const uintptr_t item : *posting)
        {
            if (HasDoor(item))
            {
                screen->Add(reinterpret_cast<Subscription*>(item));
            }
        }
    }
    catch (...)
    {
        Drop(m_atEqualities, m_atEqualities.end() - 1);
        throw;
    }
    posting->Gather(HasDoor, ItemOf(screen));
    return screen;
}

void
Screens::Drop(List& list, List::iterator screen)
{
    *screen = std::move(list.back());
    list.pop_back();
    if (list.empty())
    {
        list = List();
    }
}

} // namespace pysim
