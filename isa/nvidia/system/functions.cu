// The functions of the system that kernels call, as code of the device. functions.sass is what nvcc 13.0 makes of them:
// python -m system_code, in tests
//
// system_ring: its bytes, and those written so far, before the records (isa/nvidia/system/printed.py).
// system_heap: its bytes, and those handed out so far, then lists of freed blocks by size, before the blocks.

typedef unsigned int word;
typedef unsigned long long pair;

struct Ring {
    word bytes;
    word written;
    word unused[2];
    word first[1];
};

struct Heap {
    word bytes;
    word used;
    word unused[2];
    pair freed[512];  // place of the first in the lower half, how often the list has changed in the upper half
};

struct Block {  // before the bytes that a thread gets; places count from the heap's beginning, 16 bytes each
    word kind;  // the list to which its size belongs
    word state;
    word back;  // bytes from the block that it is a part of
    word next;  // of a freed one
};

const word LIVE = 0x6c697665, FREED = 0x66726565;

static __device__ __forceinline__ bool among(pair letters, int letter) {
    return letter < 64 && letters >> letter & 1;
}

// Sets of letters: those from ' ' to '_' in one word, those from '@' on in another, each with bit 0 for the first.
#define LOW(c) (1ull << (c) - ' ')
#define HIGH(c) (1ull << (c) - '@')
const pair BETWEEN_LOW = LOW(' ') | LOW('#') | LOW('+') | LOW('-') | LOW('.') | 0x3ffull << '0' - ' ';
const pair BETWEEN_HIGH = HIGH('h') | HIGH('L');
const pair LONGS = HIGH('l') | HIGH('j') | HIGH('z') | HIGH('t');
const pair INTEGERS = HIGH('d') | HIGH('i') | HIGH('u') | HIGH('o') | HIGH('x') | HIGH('X') | HIGH('c');
const pair WIDE = HIGH('s') | HIGH('p') | HIGH('f') | HIGH('F') | HIGH('e') | HIGH('E') | HIGH('g') | HIGH('G')
    | HIGH('a') | HIGH('A');

static __device__ __forceinline__ void write(Ring* ring, word bytes, word& at, word value) {
    *(word*)((char*)ring->first + at) = value;
    at += 4;
    if (at == bytes) at = 0;
}

static __device__ __forceinline__ Block* block_at(Heap* heap, word place) {
    return (Block*)((char*)heap + 16ull * place);
}

static __device__ __forceinline__ word take(Heap* heap, word kind) {
    volatile pair* list = heap->freed + kind;
    for (;;) {
        pair head = *list;
        word place = (word)head;
        if (!place) return 0;
        word next = *(volatile word*)&block_at(heap, place)->next;
        pair changed = (head >> 32) + 1 << 32 | next;
        if (atomicCAS((pair*)list, head, changed) == head) return place;
    }
}

extern "C" {
extern __device__ Ring system_ring;
extern __device__ Heap system_heap;

// A record: its bytes; the format's address; the arguments, as the caller has them, but for strings, of which the first
// word says where they begin behind the first argument (0: NULL); these, each with its zero, in whole words; its bytes.
__device__ int system_vprintf(const unsigned char* format, const word* arguments) {
    if (!format) return -1;
    const unsigned char* format_at = format;
    word size = 0, text = 0;
    int count = 0;
    pair strings = 0;
    bool within = false, wide = false;
#pragma unroll 1
    for (int letter; (letter = *format) && count < 32; format++) {
        if (!within) {
            within = letter == '%';
            wide = false;
            continue;
        }
        int low = letter - ' ', high = letter - '@';
        if (high < 0 ? among(BETWEEN_LOW, low) : among(BETWEEN_HIGH | LONGS, high)) {
            wide |= high >= 0 && among(LONGS, high);
            continue;
        }
        if (letter == '*') {
            size += 4;
            count++;
            continue;
        }
        within = false;
        if (high < 0 || !among(INTEGERS | WIDE, high)) continue;
        count++;
        wide = (wide && letter != 'c') || among(WIDE, high);
        if (wide) size += size & 4;
        if (letter == 's') {
            strings |= 1ull << (size >> 2);
            const char* s = *(const char* const*)((const char*)arguments + size);
            if (s) {
                word length = 1;
#pragma unroll 1
                while (*s++) length++;
                text += length + 3 & ~3;
            }
        }
        size += wide ? 8 : 4;
    }
    Ring* ring = &system_ring;
    word bytes = 16 + size + text, whole = ring->bytes;
    if (bytes > whole) return count;
    word place = atomicAdd(&ring->written, bytes) % whole, behind = place + 12 + size;
    if (behind >= whole) behind -= whole;
    write(ring, whole, place, bytes);
    write(ring, whole, place, (word)(pair)format_at);
    write(ring, whole, place, (word)((pair)format_at >> 32));
    word tail = size;
#pragma unroll 1
    for (word i = 0; i < size; i += 4) {
        const unsigned char* s = 0;
        word value = *(const word*)((const char*)arguments + i);
        if (strings >> (i >> 2) & 1) {
            s = *(const unsigned char* const*)((const char*)arguments + i);
            value = s ? tail : 0;
        }
        write(ring, whole, place, value);
        if (s) {
            word letters = 0, shift = 0, letter;
#pragma unroll 1
            do {
                letter = *s++;
                letters |= letter << shift;
                shift += 8;
                if (shift == 32 || !letter) {
                    write(ring, whole, behind, letters);
                    tail += 4;
                    letters = shift = 0;
                }
            } while (letter);
        }
    }
    write(ring, whole, behind, bytes);
    return count;
}

__device__ __noinline__ void* system_malloc(pair asked) {
    Heap* heap = &system_heap;
    if (asked > heap->bytes) return 0;
    word needed = max((word)asked, 1) + sizeof(Block);
    int shift = max(31 - __clz(needed - 1) - 4, 4);
    word units = (needed - 1 >> shift) + 1, size = units << shift, kind = 16 * (shift - 4) + units;
    word place = take(heap, kind);
    if (!place) {
        word used = *(volatile word*)&heap->used;
#pragma unroll 1
        while (size <= heap->bytes - used) {
            word found = atomicCAS(&heap->used, used, used + size);
            if (found == used) {
                place = (sizeof(Heap) + used) / 16;
                block_at(heap, place)->kind = kind;
                break;
            }
            used = found;
        }
#pragma unroll 1
        while (!place && ++kind < 512) place = take(heap, kind);
    }
    if (!place) return 0;
    Block* block = block_at(heap, place);
    block->state = LIVE;
    block->back = 0;
    return block + 1;
}

__device__ void system_free(void* given) {
    if (!given) return;
    Heap* heap = &system_heap;
    Block* block = (Block*)given - 1;
    if (block->state != LIVE) __trap();
    block->state = FREED;
    block = (Block*)((char*)block - block->back);
    block->state = FREED;
    word place = ((char*)block - (char*)heap) / 16;
    volatile pair* list = heap->freed + block->kind;
    for (;;) {
        pair head = *list;
        *(volatile word*)&block->next = (word)head;
        __threadfence();
        if (atomicCAS((pair*)list, head, (head >> 32) + 1 << 32 | place) == head) return;
    }
}

__device__ void* system_aligned(pair asked, pair alignment) {
    if (alignment <= 16) return system_malloc(asked);
    char* found = (char*)system_malloc(asked + alignment);
    if (!found) return 0;
    char* aligned = (char*)((pair)found + alignment - 1 & -alignment);
    if (aligned != found) {
        Block* block = (Block*)aligned - 1;
        block->state = LIVE;
        block->back = aligned - found;
    }
    return aligned;
}
}
