"""A Secret Service on the session bus, with one collection in memory, for clients that use libsecret.

Commands on standard input, one a line: "lock" (every request for a secret then waits for ever), "held" (answered when
one waits), "unlock" (those that wait get what was there when they came), "silence" (searches wait for ever), "hold"
(so do changes), "go on" (both are answered), "refuse" (changes fail), "accept", "count" (answered with the number of
requests that wait) and "list". Each is answered with the attributes and the secret of each item as one line of JSON.
"ready" is printed at the start.
"""
import json
import sys
import threading

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

ROOT = "/org/freedesktop/secrets"
SECRET = "org.freedesktop.Secret."
SERVICE, COLLECTION, ITEM, SESSION = (SECRET + name for name in ("Service", "Collection", "Item", "Session"))
NONE = dbus.ObjectPath("/")


class Session(dbus.service.Object):
    @dbus.service.method(SESSION)
    def Close(self):
        pass


class Properties(dbus.service.Object):
    def properties(self):
        return {}

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.properties()[name]

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return self.properties()


class Item(Properties):
    def __init__(self, service, path, attributes, label, secret):
        super().__init__(service.bus, path)
        self.service, self.path, self.attributes, self.label, self.secret = service, path, attributes, label, secret

    def properties(self):
        return {"Locked": False, "Attributes": dbus.Dictionary(self.attributes, signature="ss"), "Label": self.label,
                "Created": dbus.UInt64(0), "Modified": dbus.UInt64(0)}

    @dbus.service.method(ITEM, out_signature="o")
    def Delete(self):
        self.service.items.remove(self)
        self.remove_from_connection()
        return NONE


class Collection(Properties):
    SUPPORTS_MULTIPLE_OBJECT_PATHS = True

    def __init__(self, service):
        super().__init__(service.bus, ROOT + "/collection/default")
        self.add_to_connection(service.bus, ROOT + "/aliases/default")
        self.service, self.count = service, 0

    def properties(self):
        return {"Locked": False, "Label": "Default", "Created": dbus.UInt64(0), "Modified": dbus.UInt64(0),
                "Items": dbus.Array([item.path for item in self.service.items], signature="o")}

    @dbus.service.method(COLLECTION, in_signature="a{sv}(oayays)b", out_signature="oo",
                         async_callbacks=("reply", "fail"))
    def CreateItem(self, properties, secret, replace, reply, fail):
        if self.service.refuses:
            fail(dbus.DBusException("the disk is full", name="org.freedesktop.DBus.Error.Failed"))
        elif self.service.holds:
            self.service.held.append(lambda: reply(*self.create(properties, secret, replace)))
        else:
            reply(*self.create(properties, secret, replace))

    def create(self, properties, secret, replace):
        attributes = dict(properties[ITEM + ".Attributes"])
        label, text = properties[ITEM + ".Label"], bytes(secret[2])
        same = [item for item in self.service.items if replace and item.attributes == attributes]
        if same:
            same[0].label, same[0].secret = label, text
            return same[0].path, NONE
        self.count += 1
        path = dbus.ObjectPath("%s/collection/default/%d" % (ROOT, self.count))
        self.service.items.append(Item(self.service, path, attributes, label, text))
        return path, NONE


class Service(Properties):
    def __init__(self, bus):
        super().__init__(bus, ROOT)
        self.bus, self.items, self.is_locked, self.waiting, self.is_watched = bus, [], False, [], False
        self.is_silent, self.holds, self.refuses, self.held = False, False, False, []
        self.collection, self.session = Collection(self), Session(bus, ROOT + "/session/1")

    def properties(self):
        return {"Collections": dbus.Array([ROOT + "/collection/default"], signature="o")}

    @dbus.service.method(SERVICE, in_signature="sv", out_signature="vo")
    def OpenSession(self, algorithm, value):
        if algorithm != "plain":
            raise dbus.DBusException("plain only", name="org.freedesktop.DBus.Error.NotSupported")
        return dbus.String("", variant_level=1), dbus.ObjectPath(ROOT + "/session/1")

    @dbus.service.method(SERVICE, in_signature="a{ss}", out_signature="aoao", async_callbacks=("reply", "fail"))
    def SearchItems(self, wanted, reply, fail):
        if self.is_silent:
            self.held.append(lambda: self.search(wanted, reply))
        else:
            self.search(wanted, reply)

    def search(self, wanted, reply):
        found = [item.path for item in self.items if wanted.items() <= item.attributes.items()]
        reply(dbus.Array(found, signature="o"), dbus.Array([], signature="o"))

    @dbus.service.method(SERVICE, in_signature="ao", out_signature="aoo")
    def Unlock(self, paths):
        return paths, NONE

    @dbus.service.method(SERVICE, in_signature="s", out_signature="o")
    def ReadAlias(self, name):
        return dbus.ObjectPath(ROOT + "/collection/default")

    @dbus.service.method(SERVICE, in_signature="aoo", out_signature="a{o(oayays)}", async_callbacks=("reply", "fail"))
    def GetSecrets(self, paths, session, reply, fail):
        secrets = {item.path: (session, dbus.ByteArray(b""), dbus.ByteArray(item.secret), "text/plain")
                   for item in self.items if item.path in paths}
        self.waiting.append((reply, secrets))
        if self.is_locked and self.is_watched:
            self.is_watched = False
            show(self)
        self.answer()

    def answer(self):
        while self.waiting and not self.is_locked:
            reply, secrets = self.waiting.pop(0)
            reply(secrets)


def show(service):
    items = [{"attributes": {str(k): str(v) for k, v in item.attributes.items()}, "secret": item.secret.decode()}
             for item in service.items]
    print(json.dumps(items), flush=True)


def command(service, line):
    if line == "lock":
        service.is_locked = True
    if line == "unlock":
        service.is_locked = False
        service.answer()
    if line == "silence":
        service.is_silent = True
    if line == "hold":
        service.holds = True
    if line in ("refuse", "accept"):
        service.refuses = line == "refuse"
    if line == "go on":
        service.is_silent = service.holds = False
        while service.held:
            service.held.pop(0)()
    if line == "held" and not service.waiting:
        service.is_watched = True
    elif line == "count":
        print(len(service.held), flush=True)
    else:
        show(service)


def main():
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    service, loop = Service(bus), GLib.MainLoop()
    name = dbus.service.BusName("org.freedesktop.secrets", bus)  # kept for as long as this variable is

    def read():
        for line in sys.stdin:
            GLib.idle_add(command, service, line.strip())
        GLib.idle_add(loop.quit)
    threading.Thread(target=read, daemon=True).start()
    print("ready" if name else "", flush=True)
    loop.run()


main()
