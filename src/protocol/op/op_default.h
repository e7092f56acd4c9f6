/* op_default.h — defines all row macros of op.def that an expansion did not define as empty.
 * No include guard: included before each expansion, with op_undef.h after it. */
#ifndef OP
#define OP(...)
#endif
#ifndef OP_UNIT
#define OP_UNIT(...)
#endif
#ifndef OP_LACKS
#define OP_LACKS(...)
#endif
#ifndef OP_UNIT_LACKS
#define OP_UNIT_LACKS(...)
#endif
#ifndef OP_ALIAS
#define OP_ALIAS(...)
#endif
