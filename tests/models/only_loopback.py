"""Runs a command where there is only loopback, and tells every packet that it or its children tried to send elsewhere.

    unshare --map-root-user --net python tests/models/only_loopback.py SECONDS COMMAND ARGUMENT...

In the new network namespace all addresses but this computer's lead into a tunnel that nobody is at the other end of;
what comes out of it is what would have left the computer. Prints one JSON object: {"code": exit code, "left":
[addresses that packets were for], "output": what the command printed}. Exits with 75 where there is no tunnel to be
had, and fails where the command takes longer than SECONDS.
"""

import ctypes
import fcntl
import ipaddress
import json
import os
import socket
import struct
import subprocess
import sys
import threading

_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_SIOCSIFADDR, _SIOCADDRT, _SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCGIFINDEX = 0x8916, 0x890B, 0x8913, 0x8914, 0x8933
_UP = 0x1 | 0x40  # and running
_NAME = b"out0"
NO_NETWORK = 75

_DEVICE = ctypes.create_string_buffer(_NAME)


def _address(name: bytes, address: str) -> bytes:
    return struct.pack("16sH2x4s8x", name, socket.AF_INET, socket.inet_aton(address))


def _route_to_all() -> bytes:
    """Return a rtentry of linux/route.h: any address, no mask, through the tunnel."""
    nowhere = struct.pack("H14x", socket.AF_INET)
    return struct.pack("8x16s16s16sH22xh6xQ24x", nowhere, nowhere, nowhere, 1, 0, ctypes.addressof(_DEVICE))


def _up(control: socket.socket, name: bytes) -> None:
    flags = struct.unpack_from("16sh", fcntl.ioctl(control, _SIOCGIFFLAGS, struct.pack("16sh14x", name, 0)))[1]
    fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", name, flags | _UP))


def open_tunnel() -> int:
    """Return the end of the tunnel that all addresses but loopback lead into."""
    tunnel = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tunnel, _TUNSETIFF, struct.pack("16sH14x", _NAME, _IFF_TUN | _IFF_NO_PI))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        _up(control, b"lo")
        fcntl.ioctl(control, _SIOCSIFADDR, _address(_NAME, "198.51.100.1"))
        _up(control, _NAME)
        fcntl.ioctl(control, _SIOCADDRT, _route_to_all())
        index = struct.unpack_from("16si", fcntl.ioctl(control, _SIOCGIFINDEX, struct.pack("16si12x", _NAME, 0)))[1]
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
        own = socket.inet_pton(socket.AF_INET6, "2001:db8::1")
        fcntl.ioctl(control, _SIOCSIFADDR, own + struct.pack("II", 1, index))
    return tunnel


def destination(packet: bytes) -> str | None:
    """Return where a packet is for; None for the kernel's own talk with neighbours."""
    if packet[0] >> 4 == 4:
        return str(ipaddress.ip_address(packet[16:20]))
    address = ipaddress.ip_address(packet[24:40])
    return None if address.is_multicast or address.is_link_local else str(address)


def main() -> None:
    """Run the command and print what left."""
    try:
        tunnel = open_tunnel()
    except OSError as error:
        print(f"there is no tunnel to be had: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(NO_NETWORK)
    seconds, *command = sys.argv[1:]
    left: list[str] = []

    def drain() -> None:
        while True:
            address = destination(os.read(tunnel, 65535))
            if address is not None and address not in left:
                left.append(address)

    threading.Thread(target=drain, daemon=True).start()
    done = subprocess.run(command, capture_output=True, text=True, timeout=float(seconds), check=False)
    print(json.dumps({"code": done.returncode, "left": left, "output": done.stdout + done.stderr}))  # noqa: T201


if __name__ == "__main__":
    main()
