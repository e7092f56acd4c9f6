/* market_summary.h — plugins as the app-server's protocol has them. Texts live in the shelf's arena. */
#ifndef UI_MARKET_SUMMARY_H
#define UI_MARKET_SUMMARY_H

#include "protocol/message/app.h"
#include "ui/market/market_shelf.h"

void market_summary_fill(const struct market_shelf *shelf, const struct market_entry *entry,
                         const struct market_plugin *plugin, struct app_plugin_summary *ret);
/* The summary with the skills, hooks and MCP servers of the plugin in its marketplace. Files that cannot be read have
 * none. */
void market_detail_fill(const struct market_shelf *shelf, const struct market_entry *entry,
                        const struct market_plugin *plugin, struct app_plugin_detail *ret);

#endif
