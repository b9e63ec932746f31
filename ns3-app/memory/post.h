#ifndef PYSIM_POST_H
#define PYSIM_POST_H

#include "../python/ref.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace pysim
{

/// Time, frames and input queues, as pysim.network.plain_post.PlainPost has them.
///
/// Functions that may call Python return false if it raised; the error then stands.
class Post
{
  public:
    enum Channel : uint8_t
    {
        LINK, ///< in the order of their names
        TCP,
        UDP,
    };

    /// The running values of one row of `Counters`.
    struct Tally
    {
        int64_t sent{0};
        int64_t sentBytes{0};
        int64_t received{0};
        int64_t receivedBytes{0};
        int64_t lostLink{0};
        int64_t lostPacket{0};
        int64_t flying{0};
        int64_t unserved{0};
        int64_t unservedBytes{0};
    };

    Post(PyObject* way, PyObject* draw, PyObject* digest);
    ~Post();

    int64_t Now() const
    {
        return m_now;
    }

    void Attach(uint32_t broker, PyObject* host, bool service);
    void Open(uint32_t source, uint32_t target, int64_t delay);
    void Cut(uint32_t a, uint32_t b);
    void Silence(uint32_t broker);
    void Revive(uint32_t broker);
    bool IsKnown(uint32_t broker) const;
    bool IsAlive(uint32_t broker) const;

    bool Send(uint32_t source, uint32_t target, PyObject* frame);
    bool SendDirect(uint32_t source, uint32_t target, PyObject* frame, Channel channel);
    bool Submit(uint32_t broker, PyObject* task);
    uint64_t Schedule(int64_t delay, PyObject* callback);
    void Cancel(uint64_t ticket);
    bool Run(int64_t until, PyObject* progress);

    PyObject* Counters() const;
    PyObject* Queues() const;
    bool Flush();
    void Clear();
    int Traverse(visitproc visit, void* argument) const;

  private:
    struct Station;

    /// One direction between two brokers: of a link, which has a delay, or off the overlay.
    struct Lane
    {
        Station* source;
        Station* target;
        Channel channel;
        int64_t delay;
        bool isOpen{true};
        std::vector<std::pair<uint8_t, Tally*>> tallies; ///< by type code; there are few
    };

    /// A frame from when it is handed in until it is handed over, or lost.
    struct Frame
    {
        Lane* lane;
        Ref data;
        Tally* tally;
        bool isLost;

        int64_t Size() const
        {
            return PyBytes_GET_SIZE(data.Get());
        }
    };

    using FramePointer = std::unique_ptr<Frame>;

    /// What waits for a server: a frame, or else a task.
    struct Item
    {
        int64_t arrived;
        FramePointer frame;
        Ref task;
    };

    struct Station
    {
        uint32_t broker;
        Ref host;
        bool service;
        bool isAlive{true};
        bool isBusy{false};
        uint64_t life{0};
        std::unordered_map<uint32_t, Lane*> lanes[3];      ///< by channel and target
        std::unordered_map<uint32_t, int64_t> connections; ///< when the last frame on each arrives
        std::deque<Item> queue;
        std::vector<FramePointer> held;
        int64_t busySince{0};
        int64_t busy{0};
        int64_t served{0};
        int64_t waiting{0};
        size_t longest{0};
        int64_t delayed{0};
        int64_t joined{0};
    };

    /// What is to happen: a frame arrives, a service of a station's life ends, or a timer fires.
    struct Entry
    {
        int64_t time;
        uint64_t sequence;
        FramePointer frame;
        Station* station;
        uint64_t life;

        /// For a heap with the earliest on top.
        bool operator<(const Entry& other) const
        {
            return std::tie(other.time, other.sequence) < std::tie(time, sequence);
        }
    };

    void Push(int64_t delay, FramePointer frame, Station* station, uint64_t life);
    Entry Pop();
    Lane* NewLane(Station& source, Station& target, Channel channel, int64_t delay);
    bool Accept(Lane& lane, PyObject* data);
    Tally* TallyOf(Lane& lane, PyObject* data);
    bool Depart(FramePointer frame);
    bool DepartDirectly(FramePointer frame);
    int64_t ConnectionArrival(Station& source, uint32_t target, int64_t delay);
    bool Arrive(FramePointer frame);
    bool HandOver(const Frame& frame, int64_t* service);
    bool Serve(Station& station, const Frame* frame, PyObject* task);
    bool ServeNext(Station& station);
    bool EndService(Station& station);
    bool Fire(uint64_t ticket);
    void Enqueue(Station& station, FramePointer frame, PyObject* task);
    int64_t CurrentService(const Station& station) const;
    void Lose(Frame& frame);
    template <typename Predicate> void LoseWhere(Predicate isCut);

    int64_t m_now{0};
    uint64_t m_sequence{0};
    std::vector<Entry> m_agenda; ///< a heap
    std::unordered_map<uint64_t, Ref> m_timers;
    std::unordered_map<uint32_t, std::unique_ptr<Station>> m_stations;
    std::deque<Lane> m_lanes; ///< those of links that are gone too: frames know theirs
    std::map<std::tuple<uint32_t, uint32_t, Channel, uint8_t>, Tally> m_tallies;
    Ref m_way;
    Ref m_draw;
    Ref m_digest;
    std::string m_timings; ///< what the digest has not been given yet
};

} // namespace pysim

#endif
