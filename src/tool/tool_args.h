/* tool_args.h — the structs of tool_args.def. */
#ifndef TOOL_TOOL_ARGS_H
#define TOOL_TOOL_ARGS_H

#include "protocol/record/types.h"

#include "protocol/record/record_struct.h"
#include "protocol/record/record_default.h"
#include "tool/tool_args.def"
#include "protocol/record/record_undef.h"

#define RECORD(name, doc) extern const struct record record_##name;
#define RECORD_EMPTY(name, doc) extern const struct record record_##name;
#include "protocol/record/record_default.h"
#include "tool/tool_args.def"
#include "protocol/record/record_undef.h"

#endif
