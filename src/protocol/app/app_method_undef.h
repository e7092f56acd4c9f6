/* app_method_undef.h — undefines the row macros of app_method.def. No include guard: included after each expansion. */
#undef METHOD
#undef METHOD_LACKS
#undef METHOD_REFUSES
#undef METHOD_ANSWERS
