/* Only the indirection through the vtable, so that a new transport changes no caller. */
#include "transport/transport.h"

bool transport_send(struct transport *transport, struct str frames)
{
	return transport->kind->send(transport, frames);
}

void transport_pause(struct transport *transport)
{
	transport->kind->pause(transport);
}

void transport_resume(struct transport *transport)
{
	transport->kind->resume(transport);
}

void transport_destroy(struct transport *transport, bool flush)
{
	if (transport)
		transport->kind->destroy(transport, flush);
}
