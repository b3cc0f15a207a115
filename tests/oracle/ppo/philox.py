"""Philox 4x32-10 and the shuffle of docs/architecture.md, written from their descriptions."""

MASK = 0xFFFFFFFF


def philox(counter, key):
    counter, key = list(counter), list(key)
    for _ in range(10):
        p0 = 0xD2511F53 * counter[0]
        p1 = 0xCD9E8D57 * counter[2]
        counter = [(p1 >> 32) ^ counter[1] ^ key[0], p1 & MASK, (p0 >> 32) ^ counter[3] ^ key[1], p0 & MASK]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return counter


class Words:
    """The 32-bit words of (seed, owner, episode, stream)."""

    def __init__(self, seed, owner, episode, stream):
        self.key = (seed & MASK, seed >> 32)
        self.counter = [0, episode & MASK, owner, stream << 16 | (episode >> 32) & 0xFFFF]
        self.block = []

    def next(self):
        if not self.block:
            self.counter[0] += 1
            self.block = philox(self.counter, self.key)
        return self.block.pop(0)

    def below(self, bound):
        threshold = (1 << 32) % bound
        while True:
            product = self.next() * bound
            if product & MASK >= threshold:
                return product >> 32


def shuffled(items, words):
    items = list(items)
    for i in range(len(items) - 1, 0, -1):
        j = words.below(i + 1)
        items[i], items[j] = items[j], items[i]
    return items
