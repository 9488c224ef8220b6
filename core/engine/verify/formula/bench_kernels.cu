// SPDX-License-Identifier: GPL-3.0-or-later
// The device's side of verification: draws inputs, finds the quantities of tolerance.h, judges outputs. Compiled by NVRTC
// behind the formulas of this folder. One block of tileLanes threads works on one tile of tileElements elements; what a
// tile adds up to is left in arrays with one entry per tile, which the host combines.

using namespace kernelwright::formula;

static __device__ __forceinline__ long long tileBegin()
{
    return static_cast<long long>(blockIdx.x) * tileElements;
}
static __device__ __forceinline__ long long tileEnd(long long count)
{
    const long long end = tileBegin() + tileElements;
    return end < count ? end : count;
}

static __device__ __forceinline__ double numberAt(const void *tensor, int type, long long index)
{
    return numberOf(type, loadBits(tensor, elementSize(type), index));
}

/// The lanes' values combined by halves, always in the same order; every thread gets the result.
template <double (*combine)(double, double)> static __device__ double combinedLanes(double value)
{
    __shared__ double lanes[tileLanes];
    __syncthreads();
    lanes[threadIdx.x] = value;
    __syncthreads();
    for (int half = tileLanes / 2; half > 0; half /= 2) {
        if (static_cast<int>(threadIdx.x) < half)
            lanes[threadIdx.x] = combine(lanes[threadIdx.x], lanes[threadIdx.x + half]);
        __syncthreads();
    }
    return lanes[0];
}

static __device__ double addedLanes(double value)
{
    return combinedLanes<plus>(value);
}

static __device__ double greatestLane(double value)
{
    return combinedLanes<greaterOf>(value);
}

extern "C" __global__ void draw_elements(void *tensor, long long count, const DrawRule *rule)
{
    const int size = elementSize(rule->type);
    const long long end = tileEnd(count);
    for (long long i = tileBegin() + threadIdx.x; i < end; i += tileLanes)
        storeBits(tensor, size, i, storedBits(rule->type, drawElement(*rule, i)));
}

extern "C" __global__ void copy_elements(void *to, const void *from, int size, long long count)
{
    const long long end = tileEnd(count);
    for (long long i = tileBegin() + threadIdx.x; i < end; i += tileLanes)
        storeBits(to, size, i, loadBits(from, size, i));
}

extern "C" __global__ void find_largest(const void *exact, int exactType, long long count, double *tiles)
{
    double largest = 0;
    const long long end = tileEnd(count);
    for (long long i = tileBegin() + threadIdx.x; i < end; i += tileLanes) {
        const double value = numberAt(exact, exactType, i);
        if (isFiniteNumber(value)) largest = greaterOf(largest, magnitudeOf(value));
    }
    largest = greatestLane(largest);
    if (threadIdx.x == 0) tiles[blockIdx.x] = largest;
}

/// Squares relative to the largest magnitude, and how many elements are finite.
extern "C" __global__ void add_squares(const void *exact, int exactType, long long count, double largest,
                                       double *tiles)
{
    double squares = 0, finite = 0;
    const long long end = tileEnd(count);
    for (long long i = tileBegin() + threadIdx.x; i < end; i += tileLanes) {
        const double value = numberAt(exact, exactType, i);
        if (!isFiniteNumber(value)) continue;
        const double scaled = quotient(value, largest);
        squares = plus(squares, product(scaled, scaled));
        finite = plus(finite, 1);
    }
    squares = addedLanes(squares);
    finite = addedLanes(finite);
    if (threadIdx.x != 0) return;
    tiles[blockIdx.x] = squares;
    tiles[gridDim.x + blockIdx.x] = finite;
}

/// Eager's largest error and excess; the bound's rms is known, its excess not yet.
extern "C" __global__ void find_excess(const void *exact, int exactType, const void *eager, long long count,
                                       const ErrorBound *bound, double *tiles)
{
    double largestError = 0, largestExcess = 0;
    const long long end = tileEnd(count);
    for (long long i = tileBegin() + threadIdx.x; i < end; i += tileLanes) {
        double error = 0;
        const double excess =
            excessOf(*bound, numberAt(exact, exactType, i), numberAt(eager, bound->type, i), error);
        largestError = greaterOf(largestError, error);
        largestExcess = greaterOf(largestExcess, excess);
    }
    largestError = greatestLane(largestError);
    largestExcess = greatestLane(largestExcess);
    if (threadIdx.x != 0) return;
    tiles[blockIdx.x] = largestError;
    tiles[gridDim.x + blockIdx.x] = largestExcess;
}

/// Per tile: the largest error, how many elements are wrong, the worst ratio, and the first element that has it.
/// `exactType` is float64 for outputs of floating types.
extern "C" __global__ void judge_elements(const void *got, const void *exact, int exactType, const void *eager,
                                          long long count, const ErrorBound *bound, double *tiles)
{
    __shared__ double ratios[tileLanes];
    __shared__ long long places[tileLanes];
    const bool isFloating = formatOf(bound->type).largest != 0;
    const int size = elementSize(bound->type);
    double largestError = 0, wrong = 0, worst = 1;
    long long worstAt = -1;
    const long long end = tileEnd(count);
    for (long long i = tileBegin() + threadIdx.x; i < end; i += tileLanes) {
        const Bits gotBits = loadBits(got, size, i), eagerBits = loadBits(eager, size, i);
        const double mine = numberOf(bound->type, gotBits), its = numberOf(bound->type, eagerBits);
        const double right = numberAt(exact, exactType, i);
        const double ratio = isFloating ? ratioOf(*bound, mine, right, its)
                                        : exactRatioOf(gotBits, eagerBits, mine, right, its);
        if (isFiniteNumber(mine) && isFiniteNumber(right))
            largestError = greaterOf(largestError, magnitudeOf(minus(mine, right)));
        if (!(ratio > 1)) continue;
        wrong = plus(wrong, 1);
        if (!(ratio > worst)) continue;
        worst = ratio;
        worstAt = i;
    }
    largestError = greatestLane(largestError);
    wrong = addedLanes(wrong);
    ratios[threadIdx.x] = worst;
    places[threadIdx.x] = worstAt;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int lane = 1; lane < tileLanes; ++lane) {
        const bool isWorse = ratios[lane] > worst;
        const bool isEarlier = ratios[lane] == worst && places[lane] >= 0 && places[lane] < worstAt;
        if (!isWorse && !isEarlier) continue;
        worst = ratios[lane];
        worstAt = places[lane];
    }
    tiles[blockIdx.x] = largestError;
    tiles[gridDim.x + blockIdx.x] = wrong;
    tiles[2 * gridDim.x + blockIdx.x] = worst;
    tiles[3 * gridDim.x + blockIdx.x] = static_cast<double>(worstAt);
}

/// The first place in each tile at which two tensors differ in their bits; −1 where none does.
extern "C" __global__ void find_difference(const void *left, const void *right, int size, long long count,
                                           double *tiles)
{
    double first = 0; // counted from the end, so that the greatest is the first; 0: none
    const long long begin = tileBegin(), end = tileEnd(count);
    for (long long i = begin + threadIdx.x; i < end; i += tileLanes)
        if (loadBits(left, size, i) != loadBits(right, size, i))
            first = greaterOf(first, static_cast<double>(end - i));
    first = greatestLane(first);
    if (threadIdx.x == 0) tiles[blockIdx.x] = first > 0 ? static_cast<double>(end) - first : -1.0;
}

/// Likewise, the first place that holds the one poison here and the other there.
extern "C" __global__ void find_unwritten(const void *left, unsigned long long leftPoison, const void *right,
                                          unsigned long long rightPoison, int size, long long count, double *tiles)
{
    double first = 0;
    const long long begin = tileBegin(), end = tileEnd(count);
    for (long long i = begin + threadIdx.x; i < end; i += tileLanes)
        if (loadBits(left, size, i) == leftPoison && loadBits(right, size, i) == rightPoison)
            first = greaterOf(first, static_cast<double>(end - i));
    first = greatestLane(first);
    if (threadIdx.x == 0) tiles[blockIdx.x] = first > 0 ? static_cast<double>(end) - first : -1.0;
}
