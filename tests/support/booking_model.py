"""The rules of the booking service, of one plan whose only limit is what its vehicles carry.

A call is replayed with the moment and in the order that the service told; what comes out must be what it answered.
"""

import collections


class Refused(Exception):
    """A call that changes nothing, with its status."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class Model:
    def __init__(self, capacity):
        self.capacity = capacity
        self.version = 0
        self.bookings = {}  # id -> [window, moment when the hold ends, or None: booked; whose answer it will be]
        self.answers = {}  # key -> (call, status)
        self.choices = collections.Counter()  # (customer, whether a slot was taken) -> how often

    def call(self, verb, body, now):
        """The status of the answer. The same key has the same answer, whatever happened in between."""
        key = body.get("key")
        if key in self.answers:
            call, status = self.answers[key]
            return status if call == (verb, body) else 422
        status = self.judge(verb, body, now)
        if key is not None:
            self.answers[key] = ((verb, dict(body)), status)
        return status

    def judge(self, verb, body, now):
        self.expire(now)
        try:
            if body.get("if_version", self.version) != self.version:
                raise Refused(409)
            changes = getattr(self, verb)(body, now)
        except Refused as refused:
            return refused.status
        self.version += changes
        return 200

    def expire(self, now):
        """A hold ends by itself; that is no change of the version, as nobody loses a place by it."""
        self.bookings = {i: b for i, b in self.bookings.items() if b[1] is None or b[1] > now}

    def place(self, body, until):
        if self.id_of(body) in self.bookings or len(self.bookings) >= self.capacity:
            raise Refused(409)
        self.bookings[self.id_of(body)] = [self.window_of(body), until, body.get("customer")]
        if until is None:
            self.count(body.get("customer"), True)
        return True

    def count(self, customer, taken):
        if customer is not None:
            self.choices[customer, taken] += 1

    def hold(self, body, now):
        return self.place(body, now + 1000 * body["ttl_s"])

    def commit(self, body, _now):
        found = self.bookings.get(self.id_of(body))
        if found is None and "job" not in body:
            raise Refused(404)
        if found is None:
            return self.place(body, None)
        if found[1] is None:
            raise Refused(409)
        found[1] = None
        self.count(found[2], True)
        return True

    def cancel(self, body, _now):
        if self.bookings.pop(self.id_of(body), None) is None:
            raise Refused(404)
        return True

    def move(self, body, _now):
        if self.id_of(body) not in self.bookings:
            raise Refused(404)
        self.bookings[self.id_of(body)][::2] = self.window_of(body), None
        return True

    def decline(self, body, _now):
        found = self.bookings.get(self.id_of(body))
        if found and found[1] is None:
            raise Refused(409)
        self.count(body.get("customer", found[2] if found else None), False)
        return self.bookings.pop(self.id_of(body), None) is not None

    @staticmethod
    def id_of(body):
        return body["job"]["id"] if "job" in body else body["id"]

    @staticmethod
    def window_of(body):
        return body["slot"]["window"]

    def state(self, now):
        """What a plan shows: id -> (window, whether it is booked)."""
        self.expire(now)
        return {i: (window, until is None) for i, (window, until, _) in self.bookings.items()}
