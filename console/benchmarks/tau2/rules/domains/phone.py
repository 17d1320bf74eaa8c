"""The user's phone in telecom: a device and its surroundings.

The texts of results are those of τ²-bench, (c) 2025 Sierra Research, MIT license, as simulated users act on them.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, cast

import msgspec

from console.benchmarks.tau2.rules.domains.world import Table, ToolError, converted, tool

NONE = "none"
CONNECTED, NO_SERVICE = "connected", "no_service"
APNNames = StrEnum("APNNames", {"INTERNET": "internet", "BROKEN": "broken"})
NetworkModePreference = StrEnum(
    "NetworkModePreference",
    {"NEWEST": "4g_5g_preferred", "ONLY_4G": "4g_only", "ONLY_3G": "3g_only", "ONLY_2G": "2g_only"},
)
MODES: Mapping[str, str] = {"4g_5g_preferred": "5G", "4g_only": "4G", "3g_only": "3G", "2g_only": "2G"}
"""Technology by network mode; the first falls back to 4G."""
_SIGNAL_WORDS = {"poor": "📶¹ Poor", "fair": "📶² Fair", "good": "📶³ Good", "excellent": "📶⁴ Excellent"}
_SIGNAL_SHARE = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
_MEAN_SPEED = {"2G": 0.25, "3G": 3.0, "4G": 55.0, "5G": 275.0}
_SPEED_WORDS = (
    (1, "Very Poor", "Connection is very slow. Basic web browsing might be difficult."),
    (5, "Poor", "Connection is slow. Web browsing may be sluggish, streaming difficult."),
    (25, "Fair", "Connection is okay for web browsing and some standard definition streaming."),
    (100, "Good", "Connection is good for most activities, including HD streaming."),
    (float("inf"), "Excellent", "Connection is very fast."),
)
_SIM_WORDS: Mapping[str, str] = {
    "active": "Your SIM card is active and working.",
    "missing": "No SIM card detected in the phone.",
    "locked_pin": "The SIM card is locked with a PIN code.",
    "locked_puk": "The SIM card is locked with a PUK code.",
}


class APNSettings(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The phone's access points for mobile data and picture messages."""

    apn_name: APNNames = APNNames.INTERNET
    reset_at_reboot: bool = False
    mms_apn: str | None = "mms"
    mmsc_url: str | None = "http://mms.carrier.com/mms/wapenc"
    mms_proxy: str | None = None
    mms_port: int | None = None


class VpnDetails(msgspec.Struct, gc=False):
    """The server of a VPN."""

    server_address: str | None = None
    protocol: str | None = None
    server_performance: str = "unknown"


class Permissions(msgspec.Struct, gc=False):
    """Permissions of an app."""

    sms: bool = False
    storage: bool = False
    phone: bool = False
    network: bool = False


class App(msgspec.Struct, gc=False):
    """An installed app."""

    app_name: str
    permissions: Permissions = msgspec.field(default_factory=Permissions)


class Device(msgspec.Struct, gc=False):
    """The state of the phone."""

    sim_card_status: str = "active"
    sim_card_missing: bool = False
    airplane_mode: bool = False
    network_signal_strength: str = "good"
    network_technology_connected: str = "5G"
    network_connection_status: str = CONNECTED
    battery_level: int = 80
    data_enabled: bool = True
    roaming_enabled: bool = False
    network_mode_preference: str = "4g_5g_preferred"
    active_apn_settings: APNSettings = msgspec.field(default_factory=APNSettings)
    wifi_enabled: bool = False
    wifi_connected: bool = False
    wifi_ssid: str | None = None
    wifi_signal_strength: str = NONE
    wifi_calling_enabled: bool = False
    wifi_calling_mms_over_wifi: bool = False
    data_saver_mode: bool = False
    vpn_enabled_setting: bool = False
    vpn_connected: bool = False
    vpn_details: VpnDetails | None = None
    app_statuses: dict[str, App] = {}


class PaymentRequest(msgspec.Struct, gc=False):
    """A bill that the user is asked to pay."""

    bill_id: str
    amount_due: float
    paid: bool = False


class Surroundings(msgspec.Struct, gc=False):
    """The user's location, and the company's settings for the phone."""

    name: str | None = None
    phone_number: str | None = None
    is_abroad: bool = False
    roaming_allowed: bool = False
    signal_strength: dict[str, str] = msgspec.field(
        default_factory=lambda: {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"}
    )
    mobile_data_usage_exceeded: bool = False
    line_active: bool = True
    payment_request: PaymentRequest | None = None


class PhoneData(msgspec.Struct, gc=False):
    """The pulled data."""

    device: Device = msgspec.field(default_factory=Device)
    surroundings: Surroundings = msgspec.field(default_factory=Surroundings)


def _switch(field: str, name: str, *, searches: bool = False) -> Callable[["TelecomUser"], str]:
    """Make the tool that turns a setting on or off; some make the phone search for a network again."""

    @tool("write")
    def toggle(self: "TelecomUser") -> str:
        is_on = not getattr(self.device, field)
        setattr(self.device, field, is_on)
        if searches:
            self.simulate_network_search()
        return self.bar(f"{name} is now {_on(is_on)}.")

    return toggle


def _setter(field: str, *, value: bool, searches: bool = True) -> Callable[["TelecomUser"], None]:
    """Make the function of tasks that gives a setting a value, after which most let the phone search its network."""

    def turn(self: "TelecomUser") -> None:
        setattr(self.device, field, value)
        if searches:
            self.simulate_network_search()

    return turn


class TelecomUser:
    """Tools of the user, and functions of the tasks."""

    def __init__(self, data: PhoneData) -> None:
        self.phone = Table[Device | Surroundings]({"device": data.device, "surroundings": data.surroundings})
        self.device = cast(Device, self.phone.get("device", ""))
        self.surroundings = cast(Surroundings, self.phone.get("surroundings", ""))

    @tool("read")
    def check_status_bar(self) -> str:
        return self.bar()

    @tool("read")
    def check_network_status(self) -> str:
        device = self.device
        lines = [
            f"Airplane Mode: {_on(device.airplane_mode)}",
            f"SIM Card Status: {self._sim()}",
            f"Cellular Connection: {device.network_connection_status}",
            f"Cellular Signal: {device.network_signal_strength}",
            f"Cellular Network Type: {device.network_technology_connected}",
            f"Mobile Data Enabled: {'Yes' if device.data_enabled else 'No'}",
            f"Data Roaming Enabled: {'Yes' if device.roaming_enabled else 'No'}",
            f"Wi-Fi Radio: {_on(device.wifi_enabled)}",
            f"Wi-Fi Connected: {'Yes' if device.wifi_connected else 'No'}",
        ]
        if device.wifi_connected:
            lines.append(f"Connected Wi-Fi Network: {device.wifi_ssid}")
        return "\n".join(lines)

    @tool("read")
    def check_network_mode_preference(self) -> str:
        return f"Network Mode Preference: {_text(self.device.network_mode_preference)}"

    @tool("write")
    def set_network_mode_preference(self, mode: NetworkModePreference | str) -> str:
        """Set the network mode; anything but a text is stored before it fails, as in the original."""
        if isinstance(mode, str) and mode not in MODES:  # pyright: ignore[reportUnnecessaryIsInstance] - model's value
            return self.bar(self._refused_mode(mode))
        self.device.network_mode_preference = mode
        self.simulate_network_search()
        if mode is None:  # pyright: ignore[reportUnnecessaryComparison] - model's value
            return self.bar(self._refused_mode(mode))
        return self.bar(f"Preferred Network Mode set to: {_text(mode)}")

    @tool("read")
    def run_speed_test(self) -> str:
        speed = self._speed()
        if speed is None:
            return "Speed test failed: No Connection."
        word, advice = _speed_words(speed)
        return f"Speed Test Result: {speed:.2f} Mbps ({word}). {advice}"

    @tool("write")
    def toggle_airplane_mode(self) -> str:
        device = self.device
        device.airplane_mode = not device.airplane_mode
        if device.airplane_mode and device.vpn_connected:
            device.vpn_connected, device.vpn_details = False, None
        if device.airplane_mode or device.wifi_enabled:
            self._drop_wifi()
        self.simulate_network_search()
        return self.bar(f"Airplane Mode is now {_on(device.airplane_mode)}.")

    @tool("read")
    def check_sim_status(self) -> str:
        return _SIM_WORDS[self._sim()]

    @tool("write")
    def reseat_sim_card(self) -> str:
        self.device.sim_card_missing = False
        self.simulate_network_search()
        return self.bar("SIM card re-seated successfully.")

    toggle_data = _switch("data_enabled", "Mobile Data", searches=True)
    toggle_roaming = _switch("roaming_enabled", "Data Roaming", searches=True)

    @tool("read")
    def check_data_restriction_status(self) -> str:
        is_on = self.device.data_saver_mode
        return "Data Saver mode is ON (limits data usage)." if is_on else "Data Saver mode is OFF."

    toggle_data_saver_mode = _switch("data_saver_mode", "Data Saver Mode")

    @tool("read")
    def check_apn_settings(self) -> str:
        settings = self.device.active_apn_settings
        name, url = settings.apn_name or "Not Set", settings.mmsc_url or "Not Set"
        note = "(These are technical settings, usually best left unchanged.)"
        return f"Current APN Name: {name}\nMMSC URL (for picture messages): {url}\n{note}"

    @tool("write")
    def set_apn_settings(self, apn_settings: APNSettings | dict[str, Any]) -> str:
        """Set the access point; anything but an object is stored before it fails, as in the original."""
        settings = converted(APNSettings, apn_settings) if isinstance(apn_settings, dict) else apn_settings
        self.device.active_apn_settings = settings
        text = f"APN settings set to: {settings.apn_name}"
        self.simulate_network_search()
        return self.bar(text)

    @tool("write")
    def reset_apn_settings(self) -> str:
        """Restore the access point at the next reboot."""
        self.device.active_apn_settings.reset_at_reboot = True
        self.simulate_network_search()
        return self.bar("APN settings will reset at reboot.")

    @tool("read")
    def check_wifi_status(self) -> str:
        device = self.device
        if not device.wifi_enabled:
            return "Wi-Fi is turned OFF."
        if device.wifi_connected:
            strength = device.wifi_signal_strength
            return f"Wi-Fi is ON and connected to '{device.wifi_ssid}'. Signal strength: {strength}."
        return "Wi-Fi is ON but not connected to any network."

    @tool("write")
    def toggle_wifi(self) -> str:
        """Switch Wi-Fi, which never connects."""
        if self.device.airplane_mode:
            return self.bar("Cannot change Wi-Fi settings while Airplane Mode is ON.")
        self.device.wifi_enabled = not self.device.wifi_enabled
        if not self.device.wifi_enabled:
            self._drop_wifi()
        return self.bar(f"Wi-Fi is now {_on(self.device.wifi_enabled)}.")

    @tool("read")
    def check_wifi_calling_status(self) -> str:
        return f"Wi-Fi Calling is currently turned {_on(self.device.wifi_calling_enabled)}."

    toggle_wifi_calling = _switch("wifi_calling_enabled", "Wi-Fi Calling")

    @tool("read")
    def check_vpn_status(self) -> str:
        """Return the state of the VPN; its details print as in Python."""
        device = self.device
        if device.vpn_connected and device.vpn_details is not None:
            details = device.vpn_details
            shown = f"<PerformanceLevel.{details.server_performance.upper()}: {details.server_performance!r}>"
            fields = f"'server_address': {details.server_address!r}, 'protocol': {details.protocol!r}"
            return f"VPN is ON and connected. Details: {{{fields}, 'server_performance': {shown}}}"
        if device.vpn_connected:
            return "VPN is ON and connected (no specific details available)."
        if device.vpn_enabled_setting:
            return "VPN is turned ON in settings, but currently not connected."
        return "VPN is turned OFF."

    @tool("write")
    def connect_vpn(self) -> str:
        if self.device.vpn_connected:
            return "VPN already connected."
        self._join_vpn("excellent")
        return self.bar("VPN connected successfully.")

    @tool("write")
    def disconnect_vpn(self) -> str:
        if not self.device.vpn_connected:
            return self.bar("No active VPN connection to disconnect.")
        self.device.vpn_connected, self.device.vpn_details = False, None
        return self.bar("VPN disconnected successfully.")

    @tool("read")
    def check_installed_apps(self) -> str:
        return f"The following apps are installed on the phone: {', '.join(self.device.app_statuses)}"

    @tool("read")
    def check_app_status(self, app_name: str) -> str:
        app = self.device.app_statuses.get(app_name)
        if app is None:
            return f"App '{app_name}' not found on this phone."
        granted = _granted(app)
        head = f"Status for App: {app_name}\n"
        if not granted:
            return f"{head} - Permissions: None granted."
        return head + " - Permissions Granted:" + "".join(f"\n   - {name}" for name in granted)

    @tool("read")
    def check_app_permissions(self, app_name: str) -> str:
        app = self.device.app_statuses.get(app_name)
        if app is None:
            return f"App '{app_name}' not found on this phone."
        granted = _granted(app)
        if not granted:
            return f"App '{app_name}' currently has no permissions granted."
        return f"App '{app_name}' has permission for: {', '.join(granted)}."

    @tool("write")
    def grant_app_permission(self, app_name: str, permission: str) -> str:
        app, name = self.device.app_statuses.get(app_name), permission.lower()
        if app is None:
            return self.bar(f"Error. App '{app_name}' not found. Cannot grant permission.")
        permissions = list(Permissions.__struct_fields__)
        if name not in permissions:
            text = f"Permission '{name}' not tracked for app '{app_name}', available permissions: {permissions}"
            return self.bar(f"Error. {text}")
        setattr(app.permissions, name, True)
        return self.bar(f"Success. Permission '{name}' granted to app '{app_name}'.")

    @tool("read")
    def can_send_mms(self) -> str:
        return f"Your messaging app {'can' if self._mms_works() else 'cannot'} send MMS messages."

    @tool("write")
    def reboot_device(self) -> str:
        lines: list[str] = []
        if self.device.active_apn_settings.reset_at_reboot:
            lines.append("Resetting APN settings...\n")
            self.device.active_apn_settings = APNSettings()
        self.simulate_network_search()
        return self.bar("".join([*lines, "Restarting network services..."]))

    @tool("read")
    def check_payment_request(self) -> str:
        request = self.surroundings.payment_request
        if request is None:
            return "No payment request has been made."
        return f"You have a payment request for bill {request.bill_id} of {request.amount_due} USD."

    @tool("write")
    def make_payment(self) -> str:
        """Pay the bill; the company learns it right after."""
        request = self.surroundings.payment_request
        if request is None:
            return "You do not have a payment request."
        request.paid = True
        return f"Payment of {request.amount_due} USD has been made for bill {request.bill_id}."

    # Functions of the tasks

    def set_user_info(self, name: str, phone_number: str) -> None:
        self.surroundings.name, self.surroundings.phone_number = name, phone_number

    def set_user_location(self, abroad: bool) -> None:
        self.surroundings.is_abroad = abroad

    def turn_airplane_mode_on(self) -> None:
        if not self.device.airplane_mode:
            self.toggle_airplane_mode()

    turn_roaming_on = _setter("roaming_enabled", value=True)
    turn_roaming_off = _setter("roaming_enabled", value=False)
    turn_data_off = _setter("data_enabled", value=False)
    turn_data_saver_mode_on = _setter("data_saver_mode", value=True, searches=False)
    unseat_sim_card = _setter("sim_card_missing", value=True)

    def remove_app_permission(self, app_name: str, permission: str) -> None:
        app = self.device.app_statuses.get(app_name)
        if app is not None and permission.lower() in Permissions.__struct_fields__:
            setattr(app.permissions, permission.lower(), False)

    def set_wifi_calling(self, enabled: bool, mms_over_wifi: bool | None = None) -> None:
        self.device.wifi_calling_enabled = enabled
        if mms_over_wifi is not None:
            self.device.wifi_calling_mms_over_wifi = mms_over_wifi

    def break_apn_settings(self) -> None:
        """Set an access point without service."""
        self.device.active_apn_settings.apn_name = APNNames.BROKEN
        self.simulate_network_search()

    def break_apn_mms_setting(self) -> None:
        """Forget the address of picture messages."""
        self.device.active_apn_settings.mmsc_url = None

    def break_vpn(self) -> None:
        self._join_vpn("poor")

    def lock_sim_card(self, mode: str) -> None:
        """Lock the SIM card with its `pin` or `puk`."""
        self.device.sim_card_status = f"locked_{mode}"
        self.simulate_network_search()

    def assert_service_status(self, expected_status: str) -> bool:
        return self.device.network_connection_status == expected_status

    def assert_mobile_data_status(self, expected_status: bool) -> bool:
        return self._data_works() == expected_status

    def assert_internet_speed(self, expected_speed: float, expected_desc: str | None = None) -> bool:
        """Return whether mobile data is this fast, and called so."""
        speed = self._speed()
        word = "No Connection" if speed is None else _speed_words(speed)[0]
        is_called = expected_desc is None or word.lower() == expected_desc.lower()
        return (speed or 0.0) >= expected_speed and is_called

    def assert_can_send_mms(self, expected_status: bool) -> bool:
        return self._mms_works() == expected_status

    # The phone

    def simulate_network_search(self) -> None:
        """Find the network that SIM card, mode, access point and line allow."""
        device = self.device
        mode = device.network_mode_preference
        technology = MODES.get(mode, "4G") if isinstance(mode, str) else "4G"  # pyright: ignore[reportUnnecessaryIsInstance] - model's value
        signals = self.surroundings.signal_strength
        if mode == "4g_5g_preferred" and signals.get("5G", NONE) == NONE:
            technology = "4G"
        self._connect(technology if self._sim() == "active" and not device.airplane_mode else None)
        if device.active_apn_settings.apn_name == APNNames.BROKEN or not self.surroundings.line_active:
            self._connect(None)

    def _connect(self, technology: str | None) -> None:
        device = self.device
        device.network_connection_status = NO_SERVICE if technology is None else CONNECTED
        device.network_technology_connected = technology or NONE
        device.network_signal_strength = self.surroundings.signal_strength.get(technology or NONE, NONE)

    def _data_works(self) -> bool:
        device, around = self.device, self.surroundings
        has_network = not device.airplane_mode and device.network_signal_strength != NONE
        may_roam = not around.is_abroad or (device.roaming_enabled and around.roaming_allowed)
        is_served = has_network and device.network_connection_status != NO_SERVICE and may_roam
        return is_served and bool(device.data_enabled) and not around.mobile_data_usage_exceeded

    def _speed(self) -> float | None:
        """Return Mbps; None: no connection."""
        if not self._data_works():
            return None
        device = self.device
        vpn = device.vpn_details if device.vpn_connected else None
        share = 0.1 if vpn is not None and vpn.server_performance == "poor" else 1.0
        if device.data_saver_mode:
            share *= 0.2
        speed = _MEAN_SPEED.get(device.network_technology_connected, 0.0)
        return round(speed * _SIGNAL_SHARE.get(device.network_signal_strength, 0.0) * share, 2)

    def _mms_works(self) -> bool:
        device, app = self.device, self.device.app_statuses.get("messaging")
        if not self._data_works() or device.network_technology_connected == "2G" or app is None:
            return False
        is_over_wifi = device.wifi_calling_enabled and device.wifi_calling_mms_over_wifi
        has_url = device.active_apn_settings.mmsc_url is not None
        return not is_over_wifi and has_url and app.permissions.storage and app.permissions.sms

    def _sim(self) -> str:
        return "missing" if self.device.sim_card_missing else self.device.sim_card_status

    def _join_vpn(self, performance: str) -> None:
        self.device.vpn_connected = True
        self.device.vpn_details = VpnDetails("192.168.1.1", "OpenVPN", performance)

    def _drop_wifi(self) -> None:
        self.device.wifi_connected, self.device.wifi_ssid = False, None
        self.device.wifi_signal_strength = NONE

    def _refused_mode(self, mode: Any) -> str:
        return f"Failed to set network mode: '{mode}' is not a valid option. Please use one of: {', '.join(MODES)}"

    def bar(self, text: str = "") -> str:
        """Return a text with the status bar below it."""
        device = self.device
        parts = ["✈️ Airplane Mode"]
        if not device.airplane_mode:
            parts = [_SIGNAL_WORDS.get(device.network_signal_strength, "📵 No Signal")]
            has_network = device.network_technology_connected != NONE
            if has_network:
                parts.append(device.network_technology_connected)
            if device.data_enabled and has_network:
                parts += ["📱 Data Enabled", *(["🔽 Data Saver"] if device.data_saver_mode else [])]
            else:
                parts.append("📵 Data Disabled")
        if device.wifi_enabled and device.wifi_connected:
            parts.append(f"📡 Connected to {device.wifi_ssid}" if device.wifi_ssid else "📡 Enabled")
        if device.vpn_connected:
            parts.append("🔒 VPN Connected")
        parts.append(f"🔋 {device.battery_level}%")
        return f"{text}\n".lstrip("\n") + f"Status Bar: {' | '.join(parts)}"


def _on(value: bool) -> str:
    return "ON" if value else "OFF"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ToolError(f"{type(value).__name__!r} object has no attribute 'value'")
    return value


def _granted(app: App) -> list[str]:
    return [name for name in Permissions.__struct_fields__ if getattr(app.permissions, name)]


def _speed_words(speed: float) -> tuple[str, str]:
    return next((word, advice) for limit, word, advice in _SPEED_WORDS if speed < limit)
