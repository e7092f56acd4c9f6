/* fleet_limits.h — the limits of fleets and their connections to Redis. Sizes in bytes, times in milliseconds. */
#ifndef FLEET_FLEET_LIMITS_H
#define FLEET_FLEET_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_REDIS_REPLY = 512 * MIB,      /* one reply of Redis; a value has at most as much */
	LIMIT_REDIS_LINE = 64 * KIB,        /* a line of a reply: a status, an error, a length */
	LIMIT_REDIS_DEPTH = 16,             /* nested lists in a reply */
	LIMIT_REDIS_REPLY_MS = 10 * 1000,   /* time for the next reply, after which the connection counts as broken */
	LIMIT_FLEET_EVENTS = 5000,          /* events that a worker keeps of each session, to write them again */
	LIMIT_FLEET_KEPT = 4 * MIB,         /* bytes of these and of the lines of the rollout */
	LIMIT_FLEET_BATCH = 1 * MIB,        /* bytes of one emit, if it needs no more to be whole */
	LIMIT_FLEET_LEASE_MS = 86400000,    /* the largest --lease-ms */
	LIMIT_FLEET_SESSIONS = 100 * 1000,  /* the largest --max-sessions */
	LIMIT_FLEET_READ = 256,             /* entries of a stream that one command reads */
	LIMIT_FLEET_READ_BYTES = 1 * MIB,   /* bytes of these, if the first one is not longer */
	LIMIT_FLEET_REFUSED = 1024,         /* sessions that a worker knows it cannot open */
	LIMIT_FLEET_REFUSED_MS = 60 * 1000, /* time after which it tries again */
	LIMIT_FLEET_PACK_FROM = 16 * KIB,   /* bytes of a log from which on it is packed when its session is let go */
	LIMIT_FLEET_CHUNK = 1 * MIB,        /* lines of a log that are packed together; the last one may exceed it */
	LIMIT_FLEET_PACK_LINE = 8 * MIB,    /* a longer line is not packed, nor what follows it */
	LIMIT_FLEET_CHUNKS = 4,             /* packed parts of a log that one command reads */
	LIMIT_FLEET_DELTA_MS = 50,          /* time in which deltas are gathered into one emit */
	LIMIT_FLEET_CONNECT_MS = 10 * 1000, /* time for the first connection of a worker to Redis */
	LIMIT_FLEET_LINGER_MS = 3000,       /* time for the last writes of a worker that ends */
	LIMIT_REDIS_RETRY_FIRST_MS = 50,    /* wait before Redis is connected again, which doubles … */
	LIMIT_REDIS_RETRY_MS = 1000,        /* … up to this */
	LIMIT_FLEET_BLOCK_MS = 1000,        /* time for which a command waits in Redis for new entries */
	LIMIT_FLEET_AGAIN_MS = 200,         /* wait before a failed command of the store is repeated */
};

#endif
