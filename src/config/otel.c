/* An exporter that this version lacks is an error, so that no record is lost without notice. */
#include "config/otel.h"

#include "config/config_record.h"

static int refuse(const struct toml *node, const char *what, struct error *err)
{
	char where[CONFIG_PLACE_SIZE], shown[TOML_KEY_SHOWN];
	return error_set(err, ERR_config, "%s: `%s` of otel %s", config_place(node, where),
	                 toml_key_shown(node->key, shown), what);
}

static int take_headers(const struct toml *node, struct otel *ret, struct error *err)
{
	if (node->kind != TOML_table)
		return refuse(node, "must be a table of strings", err);
	toml_for_each(it, node) {
		bool is_header = it->kind == TOML_string && str_find_char(it->text, '\n') < 0 &&
		                 str_find_char(it->text, '\r') < 0 && str_find_char(it->key, ':') < 0;
		if (!is_header)
			return refuse(it, "must be a header: a string without line ends", err);
	}
	ret->headers = node;
	return 0;
}

static int take_http(const struct toml *table, struct otel *ret, struct error *err)
{
	if (!toml_is(table, TOML_table))
		return refuse(table, "must be a table with endpoint and protocol = \"json\"", err);
	const struct toml *protocol = toml_get(table, "protocol"), *endpoint = toml_get(table, "endpoint");
	if (!toml_is(protocol, TOML_string) || !str_is(protocol->text, "json"))
		return refuse(table, "needs protocol = \"json\"; the binary form is not supported", err);
	if (!toml_is(endpoint, TOML_string) ||
	    (!str_has_prefix(endpoint->text, "http://") && !str_has_prefix(endpoint->text, "https://")))
		return refuse(table, "needs an endpoint: the URL of the logs, such as https://HOST:4318/v1/logs", err);
	ret->endpoint = endpoint->text;
	for (const struct toml *it = table->child; it; it = it->next) {
		if (str_is(it->key, "headers") && take_headers(it, ret, err) != 0)
			return -(int)err->code;
		if (str_is(it->key, "tls"))
			return refuse(it, "is not supported; SSL_CERT_FILE names another CA file", err);
	}
	return 0;
}

static int take_exporter(const struct toml *node, struct otel *ret, struct error *err)
{
	if (node->kind == TOML_string && (str_is(node->text, "none") || str_is(node->text, "statsig")))
		return 0; /* the second is the vendor's service, to which this program sends nothing */
	if (node->kind == TOML_table && node->child && str_is(node->child->key, "otlp-http"))
		return take_http(node->child, ret, err);
	if (node->kind == TOML_table && node->child && str_is(node->child->key, "otlp-grpc"))
		return refuse(node->child, "is not supported; use otlp-http with protocol = \"json\"", err);
	return refuse(node, "must be \"none\" or { otlp-http = { endpoint, protocol = \"json\" } }", err);
}

int otel_read(const struct toml *table, struct otel *ret, struct error *err)
{
	*ret = (struct otel){.environment = STR("dev")};
	toml_for_each(it, table) {
		int status = 0;
		if (str_is(it->key, "exporter"))
			status = take_exporter(it, ret, err);
		else if (str_is(it->key, "environment") && it->kind != TOML_string)
			status = refuse(it, "must be a string", err);
		else if (str_is(it->key, "environment"))
			ret->environment = it->text;
		else if (str_is(it->key, "log_user_prompt") && it->kind != TOML_bool)
			status = refuse(it, "must be true or false", err);
		else if (str_is(it->key, "log_user_prompt"))
			ret->logs_prompts = it->boolean;
		if (status != 0)
			return status;
	}
	return 0;
}

static bool is_used(const struct toml *node)
{
	return node && !(node->kind == TOML_string && (str_is(node->text, "none") || str_is(node->text, "statsig")));
}

int otel_check(struct config_layers *layers, const struct toml *table, struct error *err)
{
	struct otel ignored;
	char where[CONFIG_PLACE_SIZE];
	if (table && table->kind != TOML_table)
		return error_set(err, ERR_config, "%s: `otel` must be a table", config_place(table, where));
	if (is_used(toml_get(table, "trace_exporter")) || is_used(toml_get(table, "metrics_exporter")))
		config_layer_warn(layers, "otel: traces and metrics are not sent; exporter sends log records");
	return otel_read(table, &ignored, err);
}
