/* The descriptions behind tool_args.h: decoding and the model-visible schema follow from the rows. */
#include "tool/tool_args.h"

#include "base/mem.h"

#include "protocol/record/record_rows.h"
#include "protocol/record/record_default.h"
#include "tool/tool_args.def"
#include "protocol/record/record_undef.h"
