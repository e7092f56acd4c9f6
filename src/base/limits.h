/* limits.h — every maximum in one place. Sizes in bytes, times in milliseconds.
 * A limit is named where it is used; a number in the code that bounds outside input belongs here. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#define KIB 1024
#define MIB (1024 * 1024)

enum {
	LIMIT_JSON_DEPTH = 128,
	LIMIT_JSON_VALUES = 4 * MIB,      /* values in one document: each costs a node of memory */
	LIMIT_KEPT_MEMORY = 256 * KIB,    /* of an emptied buffer, kept for the next use */
	LIMIT_LINE = 16 * MIB,            /* one frame of a line protocol */
	LIMIT_SSE_LINE = 64 * MIB,        /* one line of a model stream */
	LIMIT_SSE_EVENT = 64 * MIB,       /* the data of one event of a model stream */
	LIMIT_HTTP_HEAD = 64 * KIB,       /* status line and headers together */
	LIMIT_HTTP_ERROR_BODY = 256 * KIB, /* how much of an error answer is kept */
	LIMIT_HTTP_CHUNK_LINE = 1 * KIB,  /* a chunk's size and extensions */
	LIMIT_HTTP_BUFFER = 16 * KIB,     /* each for what one call receives and sends at a time */
	LIMIT_HTTP_BURST = 256 * KIB,     /* of all answers taken in before the rest of the loop gets its turn */
	LIMIT_HTTP_CONNECTIONS = 1024,    /* of one server at a time */
	LIMIT_HTTP_KEPT_CONNECTIONS = 16, /* of one client, between requests */
	LIMIT_HTTP_SERVER_BODY = 256 * MIB, /* a request to the scripted model */
	LIMIT_WEBSOCKET_MESSAGE = 16 * MIB, /* fragments together; 16777216 is what clients are told */
	LIMIT_WEBSOCKET_INPUT = 1 * MIB,  /* received and not yet looked at */
	LIMIT_STREAM_READ = 64 * KIB,     /* of one read from a socket */
	LIMIT_STREAM_QUEUE = 64 * KIB,    /* waiting to be sent before senders are asked to stop */
	LIMIT_WATCHER_HOLD_MS = 2000,     /* for which a slow watcher of a thread may hold up the others */
	LIMIT_STREAM_KEEP = 16 * KIB,     /* of an emptied queue's memory, kept for what is sent next */
	LIMIT_STREAM_QUEUE_HARD = 256 * MIB, /* … and before the connection is given up */
	LIMIT_STREAM_LINGER_MS = 10000,   /* for a destroyed stream to send what it still has */
	LIMIT_HURRY_MS = 500,             /* … in a program that has to leave */
	LIMIT_THREAD_CONFIGS = 16,        /* configurations kept for threads that begin alike */
	LIMIT_RPC_PENDING = 1024,         /* unanswered requests of one client before it is read no further */
	LIMIT_RPC_ERROR = 64 * KIB,       /* the message of an answer that refuses */
	LIMIT_CONFIG_FILE = 4 * MIB,
	LIMIT_CONFIG_OPTIONS = 1024,      /* -c and flags of one start */
	LIMIT_CONFIG_UNKNOWN = 256,       /* unknown settings that are remembered */
	LIMIT_CONFIG_NAMED = 20,          /* unknown settings that one warning names */
	LIMIT_GIT_POINTER = 8 * KIB,      /* a .git file that names a folder */
	LIMIT_TOML_DEPTH = 128,           /* tables and arrays inside each other */
	LIMIT_AUTH_FILE = 1 * MIB,
	LIMIT_TOKEN_FILE = 64 * KIB,      /* a secret that lets clients in */
	LIMIT_API_KEY = 64 * KIB,
	LIMIT_ACCESS_TOKEN = 4 * KIB,     /* of a token file */
	LIMIT_TOKEN_LINE = 32 * KIB,      /* that shows a token: every character may be escaped */
	LIMIT_TOKEN_MS = 10 * 1000,       /* for a client to show it */
	LIMIT_TOKEN_REFUSE_MS = 1000,     /* between a wrong token and the refusal */
	LIMIT_PROMPT = 64 * MIB,          /* a prompt on standard input */
	LIMIT_IMAGE_FILE = 20 * MIB,
	LIMIT_PATCH_TEXT = 64 * MIB,
	LIMIT_PATCH_FILE = 256 * MIB,     /* a file that a patch may touch */
	LIMIT_PATCH_HUNKS = 200000,       /* hunks and chunks of one patch */
	LIMIT_PATCH_FILES = 4096,         /* files that one checked patch may touch */
	LIMIT_PATCH_BYTES = 2047 * MIB,   /* of those files together */
	LIMIT_PATCH_LINES = 8 * MIB,      /* lines of a file that is searched for inexact context */
	LIMIT_PATCH_STEPS = 1000000000,   /* lines looked at in one such file */
	LIMIT_PATCH_ERROR = 65 * MIB,     /* a failure quotes the lines it looked for */
	LIMIT_DIFF_STEPS = 20000000,      /* comparisons before a diff becomes coarse */
	LIMIT_DIFF_LINES = 4 * MIB,       /* of both texts together, before a diff becomes coarse */
	LIMIT_ROLLOUT_LINE = 128 * MIB,
	LIMIT_INITIAL_MESSAGES = 32 * MIB, /* of a resumed session, told as one; more are left out */
	LIMIT_ROLLOUT_FILE = 2047 * MIB,
	LIMIT_ROLLOUT_PENDING = 256 * MIB, /* lines that wait for a disk with room */
	LIMIT_ROLLOUT_KEEP = 256 * KIB,   /* of the batch buffer's memory, kept between batches */
	LIMIT_ROLLOUT_HEAD = 4 * MIB,     /* a file's first line, when only that is wanted */
	LIMIT_ROLLOUT_SEGMENTS = 64,      /* files that one history is made of */
	LIMIT_ROLLOUT_FILES = 1000 * 1000, /* looked at to find one session */
	LIMIT_SESSION_INDEX = 64 * MIB,
	LIMIT_HISTORY_FILE = 64 * MIB,    /* history.jsonl */
	LIMIT_HISTORY_LOCK_MS = 20,       /* waited for somebody who shortens history.jsonl */
	LIMIT_AGENTS_MD = 1 * MIB,        /* the global file, and all project files whatever the setting */
	LIMIT_GIT_FILE = 4 * MIB,         /* of .git/config, HEAD and a ref */
	LIMIT_GIT_PACKED_REFS = 256 * MIB,
	LIMIT_PROC_LOCKS = 1 * MIB,       /* of /proc/locks, to name who holds one */
	LIMIT_EXEC_CAPTURE = 1 * MIB,     /* kept of one command's output, head and tail (core 2.5) */
	LIMIT_EXEC_CHUNK = 8 * KIB,       /* one output delta (core 2.5) */
	LIMIT_EXEC_DELTAS = 10000,        /* output deltas of one call (core 2.5) */
	LIMIT_EXEC_DELTA_BYTES = 768 * KIB, /* and their bytes: 1 MiB in base64 */
	LIMIT_EXEC_SESSIONS = 64,         /* processes of unified exec (core 3) */
	LIMIT_EXEC_STDIN = 1 * MIB,       /* written to a command and not yet taken by it */
	LIMIT_EXEC_LINGERING = 64,        /* ended commands whose output pipe somebody in the background still holds */
	LIMIT_ORPHANS = 256,              /* orphans of commands watched one by one; more are looked for when needed */
	LIMIT_KILL_GRACE_MS = 2000,       /* between TERM and KILL */
	LIMIT_KILL_ROUNDS = 16,           /* looks for processes that forked while they were being killed */
	LIMIT_SANDBOX_TRIAL_MS = 5000,    /* for a sandbox to show that it works */
	LIMIT_ENVIRONMENT = 8 * MIB,      /* one process's environment, as /proc shows it */
	LIMIT_CALL_ID = 4 * KIB,          /* a tool call's id, as the model gives it */
	LIMIT_TOOLS_RUNNING = 16,         /* calls of one response that run side by side */
	LIMIT_TOOLS_JSON = 4 * MIB,       /* the tools array of a request */
	LIMIT_TOOL_OUTPUT = 4 * MIB,      /* text of one tool call before it is cut for the model */
	LIMIT_TOOL_ITEM = 32 * MIB,       /* the same as a JSON item: escaping may multiply it */
	LIMIT_CONTEXT_TEXT = 16 * MIB,    /* one text that tells the model of its surroundings */
	LIMIT_USER_ITEM = 128 * MIB,      /* a user's message as a JSON item, images included */
	LIMIT_TOOL_FOLLOW_UP = 32 * MIB,  /* items a call adds behind its output: one image in base64 */
	LIMIT_DEBUG_QUESTIONS = 1024,     /* that wait for codex debug-client's user */
	LIMIT_PROTO_CLIENTS = 1024,       /* of one codex proto --listen */
	LIMIT_API_QUEUE = 1 * MIB,        /* events that libcodex's host has not taken, before the engine is held */
	LIMIT_APP_CLIENTS = 1024,         /* of one app-server */
	LIMIT_DAEMON_START_MS = 30 * 1000, /* for a background server to be ready */
	LIMIT_DAEMON_STOP_MS = 10 * 1000, /* to end before it is killed, and to be gone then */
	LIMIT_DAEMON_ANSWER_MS = 2000,    /* to say its version */
	LIMIT_DAEMON_LOG = 8 * MIB,       /* of its messages; at the next start they are put aside */
	LIMIT_SUBMISSIONS = 64,           /* waiting in one submission queue (protocol-v1 7) */
	LIMIT_NOTIFY = 120 * KIB, /* what the notify program is told: one argument */
	LIMIT_ARGV = 4096,
	LIMIT_RULES_DEPTH = 16,           /* lists in lists in a .rules file */
	LIMIT_RULES_FILE = 1 * MIB,
	LIMIT_COMMAND_PARSE = 64 * KIB,   /* shell text that is read to judge it */
	LIMIT_OS_RELEASE = 64 * KIB,
	LIMIT_CONNECT_MS = 30 * 1000,       /* until a connection to the model is there */
	LIMIT_ANSWER_LINGER_MS = 100,       /* how long the end of an answer is awaited that has said all */
	LIMIT_REQUEST_FRAME = 16 * MIB,     /* what a request to the model holds beside history and tools */
	LIMIT_MOCK_SCRIPT = 64 * MIB,     /* a script of the scripted model */
	LIMIT_MOCK_TEXT = 64 * MIB,       /* one text that it says */
	LIMIT_MOCK_EVENT = 192 * MIB,     /* the same as JSON in an event: a byte may take six */
	LIMIT_MOCK_FILL = 2047 * MIB,     /* bytes made by one "fill" step */
	LIMIT_MOCK_REPEAT = 100 * 1000 * 1000,
	LIMIT_MOCK_CHUNKS = 1000 * 1000,  /* deltas that one text is cut into */
	LIMIT_MOCK_GATES = 1024,          /* open gates that it remembers */
	LIMIT_MOCK_DELAY_MS = 60 * 60 * 1000,
	LIMIT_MOCK_BATCH = 64 * KIB,      /* made by a reply before the loop gets its turn */
	LIMIT_RETRIES = 100,              /* of a request or a stream (core 1.8) */
	LIMIT_RETRY_BACKOFF_MS = 60 * 1000, /* between two tries of our own accord */
	LIMIT_RETRY_AFTER_MS = 120 * 1000,  /* between two tries when the server asked for it */
};

#endif
