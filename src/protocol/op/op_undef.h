/* op_undef.h — undefines the row macros of op.def. No include guard: included after each expansion. */
#undef OP
#undef OP_UNIT
#undef OP_LACKS
#undef OP_UNIT_LACKS
#undef OP_ALIAS
