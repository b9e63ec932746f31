#include "post.h"

#include "../model/frame-header.h"

#include <algorithm>

namespace pysim
{

namespace
{

constexpr int EVENTS_PER_PROGRESS = 4096;
constexpr size_t TIMINGS = 1 << 16;

PyObject*
Interned(const char* text)
{
    return PyUnicode_InternFromString(text);
}

/// Call a method of a host whose result is a time, or None.
/// @return whether Python did not raise
bool
CallHost(PyObject* name, PyObject* const* arguments, size_t count, int64_t* time)
{
    Ref result(PyObject_VectorcallMethod(name, arguments, count, nullptr));
    if (!result)
    {
        return false;
    }
    *time = result.Get() == Py_None ? 0 : PyLong_AsLongLong(result.Get());
    return *time != -1 || !PyErr_Occurred();
}

/// Append a number, big-endian.
template <int BYTES>
void
Append(std::string& text, uint64_t number)
{
    for (int byte = BYTES - 1; byte >= 0; byte--)
    {
        text.push_back(static_cast<char>(number >> 8 * byte));
    }
}

} // namespace

Post::Post(PyObject* way, PyObject* draw, PyObject* digest)
    : m_way(Ref::Borrow(way)),
      m_draw(Ref::Borrow(draw)),
      m_digest(Ref::Borrow(digest))
{
}

Post::~Post() = default;

// Brokers and links

void
Post::Attach(uint32_t broker, PyObject* host, bool service)
{
    auto station = std::make_unique<Station>();
    station->broker = broker;
    station->host = Ref::Borrow(host);
    station->service = service;
    m_stations[broker] = std::move(station);
}

void
Post::Open(uint32_t source, uint32_t target, int64_t delay)
{
    NewLane(*m_stations.at(source), *m_stations.at(target), LINK, delay);
}

void
Post::Cut(uint32_t a, uint32_t b)
{
    Station* ends[] = {m_stations.at(a).get(), m_stations.at(b).get()};
    for (int end : {0, 1})
    {
        auto found = ends[end]->lanes[LINK].find(ends[1 - end]->broker);
        if (found != ends[end]->lanes[LINK].end())
        {
            found->second->isOpen = false;
            ends[end]->lanes[LINK].erase(found);
        }
    }
    LoseWhere([](const Lane& lane) { return !lane.isOpen; });
    for (Station* end : ends)
    {
        auto& queue = end->queue;
        queue.erase(std::remove_if(
                        queue.begin(),
                        queue.end(),
                        [](const Item& item) { return item.frame && !item.frame->lane->isOpen; }),
                    queue.end());
    }
}

void
Post::Silence(uint32_t broker)
{
    Station& station = *m_stations.at(broker);
    station.busy += CurrentService(station);
    station.isBusy = false;
    station.isAlive = false;
    station.life++;
    station.queue.clear();
    for (FramePointer& frame : station.held)
    {
        Lose(*frame);
    }
    station.held.clear();
    LoseWhere([&](const Lane& lane) { return lane.channel != LINK && lane.target == &station; });
    station.connections.clear();
    for (auto& other : m_stations)
    {
        other.second->connections.erase(broker);
    }
}

void
Post::Revive(uint32_t broker)
{
    m_stations.at(broker)->isAlive = true;
}

bool
Post::IsKnown(uint32_t broker) const
{
    return m_stations.count(broker) > 0;
}

bool
Post::IsAlive(uint32_t broker) const
{
    return m_stations.at(broker)->isAlive;
}

Post::Lane*
Post::NewLane(Station& source, Station& target, Channel channel, int64_t delay)
{
    m_lanes.push_back({&source, &target, channel, delay, true, {}});
    return source.lanes[channel][target.broker] = &m_lanes.back();
}

// Sending

bool
Post::Send(uint32_t source, uint32_t target, PyObject* frame)
{
    auto station = m_stations.find(source);
    if (station == m_stations.end())
    {
        PyErr_Format(PyExc_ValueError, "there is no broker %u", source);
        return false;
    }
    const auto& lanes = station->second->lanes[LINK];
    auto lane = lanes.find(target);
    if (lane == lanes.end())
    {
        PyErr_Format(PyExc_ValueError, "broker %u has no link to broker %u", source, target);
        return false;
    }
    return Accept(*lane->second, frame);
}

bool
Post::SendDirect(uint32_t source, uint32_t target, PyObject* frame, Channel channel)
{
    Station& station = *m_stations.at(source);
    auto known = station.lanes[channel].find(target);
    Lane* lane = known != station.lanes[channel].end()
                     ? known->second
                     : NewLane(station, *m_stations.at(target), channel, 0);
    return Accept(*lane, frame);
}

bool
Post::Submit(uint32_t broker, PyObject* task)
{
    static PyObject* work = Interned("work");
    Station& station = *m_stations.at(broker);
    if (!station.service)
    {
        PyObject* arguments[] = {station.host.Get(), task};
        int64_t ignored = 0;
        return CallHost(work, arguments, 2, &ignored);
    }
    if (!station.isBusy)
    {
        return Serve(station, nullptr, task);
    }
    Enqueue(station, nullptr, task);
    return true;
}

bool
Post::Accept(Lane& lane, PyObject* data)
{
    Tally* tally = TallyOf(lane, data);
    tally->sent++;
    tally->sentBytes += PyBytes_GET_SIZE(data);
    tally->flying++;
    auto frame = std::make_unique<Frame>(Frame{&lane, Ref::Borrow(data), tally, false});
    if (!lane.source->isBusy)
    {
        return Depart(std::move(frame));
    }
    lane.source->held.push_back(std::move(frame));
    return true;
}

Post::Tally*
Post::TallyOf(Lane& lane, PyObject* data)
{
    const uint8_t code = PyBytes_GET_SIZE(data) > static_cast<Py_ssize_t>(FrameHeader::TYPE_AT)
                             ? PyBytes_AS_STRING(data)[FrameHeader::TYPE_AT]
                             : 0;
    for (const auto& [known, tally] : lane.tallies)
    {
        if (known == code)
        {
            return tally;
        }
    }
    Tally* tally = &m_tallies[{lane.source->broker, lane.target->broker, lane.channel, code}];
    lane.tallies.emplace_back(code, tally);
    return tally;
}

// The way of a frame

bool
Post::Depart(FramePointer frame)
{
    if (frame->lane->channel != LINK)
    {
        return DepartDirectly(std::move(frame));
    }
    const int64_t delay = frame->lane->delay;
    Push(delay, std::move(frame), nullptr, 0);
    return true;
}

bool
Post::DepartDirectly(FramePointer frame)
{
    Station& source = *frame->lane->source;
    Station& target = *frame->lane->target;
    if (!target.isAlive)
    {
        Lose(*frame);
        return true;
    }
    Ref way(PyObject_CallFunction(m_way.Get(), "II", source.broker, target.broker));
    if (!way)
    {
        return false;
    }
    if (way.Get() == Py_None)
    {
        Lose(*frame);
        return true;
    }
    long long delay = 0;
    double survival = 0.0;
    if (!PyArg_ParseTuple(way.Get(), "Ld", &delay, &survival))
    {
        return false;
    }
    if (frame->lane->channel == TCP)
    {
        const int64_t arrival = ConnectionArrival(source, target.broker, delay);
        Push(arrival - m_now, std::move(frame), nullptr, 0);
        return true;
    }
    if (survival < 1.0)
    {
        Ref drawn(PyObject_CallNoArgs(m_draw.Get()));
        const double number = drawn ? PyFloat_AsDouble(drawn.Get()) : -1.0;
        if (PyErr_Occurred())
        {
            return false;
        }
        if (number >= survival)
        {
            frame->tally->flying--;
            frame->tally->lostPacket++;
            return true;
        }
    }
    Push(delay, std::move(frame), nullptr, 0);
    return true;
}

/// When a frame arrives that goes now: after a handshake if it is the first, and in order.
int64_t
Post::ConnectionArrival(Station& source, uint32_t target, int64_t delay)
{
    auto latest = source.connections.find(target);
    const int64_t arrival = latest == source.connections.end()
                                ? m_now + 3 * delay
                                : std::max(m_now + delay, latest->second);
    source.connections[target] = arrival;
    return arrival;
}

bool
Post::Arrive(FramePointer frame)
{
    if (frame->isLost)
    {
        return true;
    }
    Tally& tally = *frame->tally;
    tally.flying--;
    tally.received++;
    tally.receivedBytes += frame->Size();
    Station& station = *frame->lane->target;
    if (!station.service)
    {
        int64_t ignored = 0;
        return HandOver(*frame, &ignored);
    }
    if (!station.isBusy)
    {
        return Serve(station, frame.get(), nullptr);
    }
    tally.unserved++;
    tally.unservedBytes += frame->Size();
    Enqueue(station, std::move(frame), nullptr);
    return true;
}

bool
Post::HandOver(const Frame& frame, int64_t* service)
{
    static PyObject* frameArrived = Interned("frame_arrived");
    Ref source(PyLong_FromUnsignedLong(frame.lane->source->broker));
    Append<8>(m_timings, m_now);
    Append<4>(m_timings, frame.lane->source->broker);
    Append<4>(m_timings, frame.lane->target->broker);
    Append<4>(m_timings, frame.Size());
    if (!source || (m_timings.size() >= TIMINGS && !Flush()))
    {
        return false;
    }
    PyObject* arguments[] = {frame.lane->target->host.Get(), source.Get(), frame.data.Get()};
    return CallHost(frameArrived, arguments, 3, service);
}

void
Post::Lose(Frame& frame)
{
    if (!frame.isLost)
    {
        frame.isLost = true;
        frame.tally->flying--;
        frame.tally->lostLink++;
    }
}

/// Lose what is under way, or held back for it. Links seldom go, frames always come.
template <typename Predicate>
void
Post::LoseWhere(Predicate isCut)
{
    for (Entry& entry : m_agenda)
    {
        if (entry.frame && isCut(*entry.frame->lane))
        {
            Lose(*entry.frame);
        }
    }
    for (auto& station : m_stations)
    {
        for (FramePointer& frame : station.second->held)
        {
            if (isCut(*frame->lane))
            {
                Lose(*frame);
            }
        }
    }
}

// Service

void
Post::Enqueue(Station& station, FramePointer frame, PyObject* task)
{
    station.queue.push_back({m_now, std::move(frame), Ref::Borrow(task)});
    station.longest = std::max(station.longest, station.queue.size());
    station.delayed++;
    station.joined += station.queue.size();
}

bool
Post::ServeNext(Station& station)
{
    Item item = std::move(station.queue.front());
    station.queue.pop_front();
    station.waiting += m_now - item.arrived;
    if (item.frame)
    {
        item.frame->tally->unserved--;
        item.frame->tally->unservedBytes -= item.frame->Size();
    }
    return Serve(station, item.frame.get(), item.task.Get());
}

bool
Post::Serve(Station& station, const Frame* frame, PyObject* task)
{
    static PyObject* work = Interned("work");
    station.served++;
    station.busySince = m_now;
    station.isBusy = true;
    const uint64_t life = station.life;
    int64_t service = 0;
    PyObject* arguments[] = {station.host.Get(), task};
    if (!(frame ? HandOver(*frame, &service) : CallHost(work, arguments, 2, &service)))
    {
        return false;
    }
    if (service < 0)
    {
        PyErr_Format(PyExc_ValueError,
                     "service(=%lld) should be >= 0 ns at broker %u",
                     static_cast<long long>(service),
                     station.broker);
        return false;
    }
    Push(service, nullptr, &station, life);
    return true;
}

bool
Post::EndService(Station& station)
{
    station.busy += CurrentService(station);
    station.isBusy = false;
    std::vector<FramePointer> held;
    held.swap(station.held);
    for (FramePointer& frame : held)
    {
        if (!frame->isLost && !Depart(std::move(frame)))
        {
            return false;
        }
    }
    return station.queue.empty() || ServeNext(station);
}

int64_t
Post::CurrentService(const Station& station) const
{
    return station.isBusy ? m_now - station.busySince : 0;
}

// Time

void
Post::Push(int64_t delay, FramePointer frame, Station* station, uint64_t life)
{
    m_sequence++;
    m_agenda.push_back({m_now + delay, m_sequence, std::move(frame), station, life});
    std::push_heap(m_agenda.begin(), m_agenda.end());
}

Post::Entry
Post::Pop()
{
    std::pop_heap(m_agenda.begin(), m_agenda.end());
    Entry entry = std::move(m_agenda.back());
    m_agenda.pop_back();
    return entry;
}

uint64_t
Post::Schedule(int64_t delay, PyObject* callback)
{
    Push(delay, nullptr, nullptr, 0);
    m_timers.emplace(m_sequence, Ref::Borrow(callback));
    return m_sequence;
}

void
Post::Cancel(uint64_t ticket)
{
    auto found = m_timers.find(ticket);
    if (found != m_timers.end())
    {
        Ref callback = std::move(found->second); // what it holds may go only when we are done
        m_timers.erase(found);
    }
}

bool
Post::Fire(uint64_t ticket)
{
    auto found = m_timers.find(ticket);
    if (found == m_timers.end())
    {
        return true;
    }
    Ref callback = std::move(found->second);
    m_timers.erase(found);
    return static_cast<bool>(Ref(PyObject_CallNoArgs(callback.Get())));
}

bool
Post::Run(int64_t until, PyObject* progress)
{
    int countdown = EVENTS_PER_PROGRESS;
    auto tell = [&] {
        return progress == Py_None || Ref(PyObject_CallFunction(progress, "L", (long long)m_now));
    };
    while (!m_agenda.empty() && m_agenda.front().time <= until)
    {
        Entry entry = Pop();
        m_now = entry.time;
        const bool isWell = entry.frame ? Arrive(std::move(entry.frame))
                            : !entry.station
                                ? Fire(entry.sequence)
                                : entry.station->life != entry.life || EndService(*entry.station);
        if (!isWell)
        {
            return false;
        }
        if (--countdown == 0)
        {
            countdown = EVENTS_PER_PROGRESS;
            if (PyErr_CheckSignals() != 0 || !tell())
            {
                return false;
            }
        }
    }
    m_now = until;
    return tell();
}

// Results

PyObject*
Post::Counters() const
{
    static const char* names[] = {"link", "tcp", "udp"};
    Ref rows(PyList_New(0));
    for (const auto& [key, tally] : m_tallies)
    {
        const auto& [source, target, channel, code] = key;
        Ref row(Py_BuildValue("(IIsBLLLLLLLLL)",
                              source,
                              target,
                              names[channel],
                              code,
                              tally.sent,
                              tally.sentBytes,
                              tally.received,
                              tally.receivedBytes,
                              tally.lostLink,
                              tally.lostPacket,
                              tally.flying,
                              tally.unserved,
                              tally.unservedBytes));
        if (!rows || !row || PyList_Append(rows.Get(), row.Get()) != 0)
        {
            return nullptr;
        }
    }
    return rows.Release();
}

PyObject*
Post::Queues() const
{
    std::map<uint32_t, const Station*> ascending;
    for (const auto& [broker, station] : m_stations)
    {
        ascending[broker] = station.get();
    }
    Ref rows(PyList_New(0));
    for (const auto& [broker, station] : ascending)
    {
        if (!station->service)
        {
            continue;
        }
        Ref row(Py_BuildValue("(ILLLnnLL)",
                              broker,
                              station->served,
                              station->busy + CurrentService(*station),
                              station->waiting,
                              station->longest,
                              station->queue.size(),
                              station->delayed,
                              station->joined));
        if (!rows || !row || PyList_Append(rows.Get(), row.Get()) != 0)
        {
            return nullptr;
        }
    }
    return rows.Release();
}

bool
Post::Flush()
{
    Ref all(PyBytes_FromStringAndSize(m_timings.data(), m_timings.size()));
    m_timings.clear();
    return all && Ref(PyObject_CallOneArg(m_digest.Get(), all.Get()));
}

void
Post::Clear()
{
    auto agenda = std::move(m_agenda);
    auto timers = std::move(m_timers);
    auto stations = std::move(m_stations);
    m_agenda.clear();
    m_timers.clear();
    m_stations.clear();
}

int
Post::Traverse(visitproc visit, void* arg) const
{
    Py_VISIT(m_way.Get());
    Py_VISIT(m_draw.Get());
    Py_VISIT(m_digest.Get());
    for (const auto& timer : m_timers)
    {
        Py_VISIT(timer.second.Get());
    }
    for (const auto& station : m_stations)
    {
        Py_VISIT(station.second->host.Get());
        for (const Item& item : station.second->queue)
        {
            Py_VISIT(item.task.Get());
        }
    }
    return 0;
}

} // namespace pysim
