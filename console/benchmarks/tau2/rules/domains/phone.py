"""The user's phone in telecom: a device and its surroundings.

The pulled phone has no Wi-Fi connection, and no tool or task creates one, so Wi-Fi can only be on or off. The results
have the wording of τ²-bench, (c) 2025 Sierra Research, MIT license, because simulated users act on it.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, cast

import msgspec

from console.benchmarks.tau2.rules.domains.world import USER, Table, ToolError, World, converted, tool

NONE = "none"
CONNECTED, NO_SERVICE = "connected", "no_service"
APNNames = StrEnum("APNNames", {"INTERNET": "internet", "BROKEN": "broken"})
NetworkModePreference = StrEnum(
    "NetworkModePreference",
    {"NEWEST": "4g_5g_preferred", "ONLY_4G": "4g_only", "ONLY_3G": "3g_only", "ONLY_2G": "2g_only"},
)
MODES: Mapping[str, str] = {"4g_5g_preferred": "5G", "4g_only": "4G", "3g_only": "3G", "2g_only": "2G"}
"""Network technology by network mode."""
_SIGNALS = {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent", NONE: NONE}
"""Signal strength where the user is, by technology."""
_SIGNAL_WORDS = {
    NONE: "📵 No Signal",
    "poor": "📶¹ Poor",
    "fair": "📶² Fair",
    "good": "📶³ Good",
    "excellent": "📶⁴ Excellent",
}
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

    server_performance: str
    server_address: str = "192.168.1.1"
    protocol: str = "OpenVPN"


class App(msgspec.Struct, gc=False):
    """An installed app."""

    permissions: dict[str, bool] = {}


class Device(msgspec.Struct, gc=False):
    """The state of the phone."""

    sim_card_status: str = "active"
    sim_card_missing: bool = False
    airplane_mode: bool = False
    network_signal_strength: str = "good"
    network_technology_connected: str = "5G"
    """`none` if there is no service."""
    battery_level: int = 80
    data_enabled: bool = True
    roaming_enabled: bool = False
    network_mode_preference: str = "4g_5g_preferred"
    active_apn_settings: APNSettings = msgspec.field(default_factory=APNSettings)
    wifi_enabled: bool = False
    wifi_calling_enabled: bool = False
    wifi_calling_mms_over_wifi: bool = False
    data_saver_mode: bool = False
    vpn_details: VpnDetails | None = None
    """None if no VPN is connected."""
    app_statuses: dict[str, App] = {}

    @property
    def has_service(self) -> bool:
        """True if the phone is connected to a network; in airplane mode it never is."""
        return self.network_technology_connected != NONE

    @property
    def sim(self) -> str:
        """State of the SIM card."""
        return "missing" if self.sim_card_missing else self.sim_card_status

    def connect(self, technology: str) -> None:
        """Join a network, or leave the current one if the given network is `none`."""
        self.network_technology_connected = technology
        self.network_signal_strength = _SIGNALS[technology]


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
    mobile_data_usage_exceeded: bool = False
    line_active: bool = True
    payment_request: PaymentRequest | None = None


class PhoneData(msgspec.Struct, gc=False):
    """The pulled data; tasks say where the user is."""

    device: Device
    surroundings: Surroundings = msgspec.field(default_factory=Surroundings)


def _switch(field: str, name: str, *, searches: bool = False) -> Callable[["Phone"], str]:
    """Create the tool that turns a setting on or off; some make the phone search for a network again."""

    @tool("write", USER)
    def toggle(self: "Phone") -> str:
        is_on = not getattr(self.device, field)
        _setter(field, value=is_on, searches=searches)(self)
        return self.bar(f"{name} is now {_on(is_on)}.")

    return toggle


def _setter(field: str, *, value: bool, searches: bool = True) -> Callable[["Phone"], None]:
    """Return a function that changes a setting; after most changes, the phone searches for a network."""

    def turn(self: "Phone") -> None:
        setattr(self.device, field, value)
        if searches:
            self.simulate_network_search()

    return turn


def _reading(text: Callable[["Phone"], str]) -> Callable[["Phone"], str]:
    """Create a tool that reports a state of the phone."""
    return tool("read", USER)(text)


_switch_radio = _switch("airplane_mode", "Airplane Mode", searches=True)
_switch_wifi = _switch("wifi_enabled", "Wi-Fi")


class Phone(World):
    """The phone in the user's hands: tools of the user, and functions of the tasks."""

    def __init__(self, data: PhoneData) -> None:
        self.phone = Table[Device | Surroundings]({"device": data.device, "surroundings": data.surroundings}, "")
        self.device = cast(Device, self.phone.get("device"))
        self.surroundings = cast(Surroundings, self.phone.get("surroundings"))

    check_status_bar = _reading(lambda phone: phone.bar())

    @tool("read", USER)
    def check_network_status(self) -> str:
        device = self.device
        lines = (
            f"Airplane Mode: {_on(device.airplane_mode)}",
            f"SIM Card Status: {device.sim}",
            f"Cellular Connection: {CONNECTED if device.has_service else NO_SERVICE}",
            f"Cellular Signal: {device.network_signal_strength}",
            f"Cellular Network Type: {device.network_technology_connected}",
            f"Mobile Data Enabled: {'Yes' if device.data_enabled else 'No'}",
            f"Data Roaming Enabled: {'Yes' if device.roaming_enabled else 'No'}",
            f"Wi-Fi Radio: {_on(device.wifi_enabled)}",
            "Wi-Fi Connected: No",
        )
        return "\n".join(lines)

    check_network_mode_preference = _reading(
        lambda phone: f"Network Mode Preference: {_text(phone.device.network_mode_preference)}"
    )

    @tool("write", USER)
    def set_network_mode_preference(self, mode: NetworkModePreference | str) -> str:
        """Set the network mode; anything but a text is stored before it fails, as in the original."""
        is_unknown = isinstance(mode, str) and mode not in MODES  # pyright: ignore[reportUnnecessaryIsInstance] - model's value
        if not is_unknown:
            self.device.network_mode_preference = mode
            self.simulate_network_search()
        if is_unknown or mode is None:  # pyright: ignore[reportUnnecessaryComparison] - model's value
            reason = f"'{mode}' is not a valid option. Please use one of: {', '.join(MODES)}"
            return self.bar(f"Failed to set network mode: {reason}")
        return self.bar(f"Preferred Network Mode set to: {_text(mode)}")

    @tool("read", USER)
    def run_speed_test(self) -> str:
        speed = self._speed()
        if speed is None:
            return "Speed test failed: No Connection."
        word, advice = _speed_words(speed)
        return f"Speed Test Result: {speed:.2f} Mbps ({word}). {advice}"

    @tool("write", USER)
    def toggle_airplane_mode(self) -> str:
        if not self.device.airplane_mode:
            self.device.vpn_details = None
        return _switch_radio(self)

    check_sim_status = _reading(lambda phone: _SIM_WORDS[phone.device.sim])

    @tool("write", USER)
    def reseat_sim_card(self) -> str:
        self.device.sim_card_missing = False
        self.simulate_network_search()
        return self.bar("SIM card re-seated successfully.")

    toggle_data = _switch("data_enabled", "Mobile Data", searches=True)
    toggle_roaming = _switch("roaming_enabled", "Data Roaming", searches=True)
    check_data_restriction_status = _reading(
        lambda phone: f"Data Saver mode is {'ON (limits data usage)' if phone.device.data_saver_mode else 'OFF'}."
    )
    toggle_data_saver_mode = _switch("data_saver_mode", "Data Saver Mode")

    @tool("read", USER)
    def check_apn_settings(self) -> str:
        settings = self.device.active_apn_settings
        name, url = settings.apn_name or "Not Set", settings.mmsc_url or "Not Set"
        note = "(These are technical settings, usually best left unchanged.)"
        return f"Current APN Name: {name}\nMMSC URL (for picture messages): {url}\n{note}"

    @tool("write", USER)
    def set_apn_settings(self, apn_settings: APNSettings | dict[str, Any]) -> str:
        """Set the access point; anything but an object is stored before it fails, as in the original."""
        settings = converted(APNSettings, apn_settings) if isinstance(apn_settings, dict) else apn_settings
        self.device.active_apn_settings = settings
        text = f"APN settings set to: {settings.apn_name}"
        self.simulate_network_search()
        return self.bar(text)

    @tool("write", USER)
    def reset_apn_settings(self) -> str:
        """Restore the access point at the next reboot."""
        self.device.active_apn_settings.reset_at_reboot = True
        self.simulate_network_search()
        return self.bar("APN settings will reset at reboot.")

    check_wifi_status = _reading(
        lambda phone: (
            f"Wi-Fi is {'ON but not connected to any network' if phone.device.wifi_enabled else 'turned OFF'}."
        )
    )

    @tool("write", USER)
    def toggle_wifi(self) -> str:
        if self.device.airplane_mode:
            return self.bar("Cannot change Wi-Fi settings while Airplane Mode is ON.")
        return _switch_wifi(self)

    check_wifi_calling_status = _reading(
        lambda phone: f"Wi-Fi Calling is currently turned {_on(phone.device.wifi_calling_enabled)}."
    )
    toggle_wifi_calling = _switch("wifi_calling_enabled", "Wi-Fi Calling")

    @tool("read", USER)
    def check_vpn_status(self) -> str:
        """Return the state of the VPN; its details print as in Python."""
        details = self.device.vpn_details
        if details is None:
            return "VPN is turned OFF."
        performance = f"<PerformanceLevel.{details.server_performance.upper()}: {details.server_performance!r}>"
        server = f"'server_address': {details.server_address!r}, 'protocol': {details.protocol!r}"
        return f"VPN is ON and connected. Details: {{{server}, 'server_performance': {performance}}}"

    @tool("write", USER)
    def connect_vpn(self) -> str:
        if self.device.vpn_details is not None:
            return "VPN already connected."
        self.device.vpn_details = VpnDetails("excellent")
        return self.bar("VPN connected successfully.")

    @tool("write", USER)
    def disconnect_vpn(self) -> str:
        if self.device.vpn_details is None:
            return self.bar("No active VPN connection to disconnect.")
        self.device.vpn_details = None
        return self.bar("VPN disconnected successfully.")

    check_installed_apps = _reading(
        lambda phone: f"The following apps are installed on the phone: {', '.join(phone.device.app_statuses)}"
    )

    @tool("read", USER)
    def check_app_status(self, app_name: str) -> str:
        app = self.device.app_statuses.get(app_name)
        if app is None:
            return f"App '{app_name}' not found on this phone."
        granted = "".join(f"\n   - {name}" for name in _granted(app))
        permissions = f" Granted:{granted}" if granted else ": None granted."
        return f"Status for App: {app_name}\n - Permissions{permissions}"

    @tool("read", USER)
    def check_app_permissions(self, app_name: str) -> str:
        app = self.device.app_statuses.get(app_name)
        if app is None:
            return f"App '{app_name}' not found on this phone."
        granted = ", ".join(_granted(app))
        has = f"has permission for: {granted}" if granted else "currently has no permissions granted"
        return f"App '{app_name}' {has}."

    @tool("write", USER)
    def grant_app_permission(self, app_name: str, permission: str) -> str:
        app, name = self.device.app_statuses.get(app_name), permission.lower()
        if app is None:
            return self.bar(f"Error. App '{app_name}' not found. Cannot grant permission.")
        if name not in app.permissions:
            text = f"Permission '{name}' not tracked for app '{app_name}', available permissions: {[*app.permissions]}"
            return self.bar(f"Error. {text}")
        app.permissions[name] = True
        return self.bar(f"Success. Permission '{name}' granted to app '{app_name}'.")

    can_send_mms = _reading(
        lambda phone: f"Your messaging app {'can' if phone.mms_works() else 'cannot'} send MMS messages."
    )

    @tool("write", USER)
    def reboot_device(self) -> str:
        lines: list[str] = []
        if self.device.active_apn_settings.reset_at_reboot:
            lines.append("Resetting APN settings...\n")
            self.device.active_apn_settings = APNSettings()
        self.simulate_network_search()
        return self.bar("".join([*lines, "Restarting network services..."]))

    @tool("read", USER)
    def check_payment_request(self) -> str:
        request = self.surroundings.payment_request
        if request is None:
            return "No payment request has been made."
        return f"You have a payment request for bill {request.bill_id} of {request.amount_due} USD."

    @tool("write", USER)
    def make_payment(self) -> str:
        """Pay the bill; the company is notified right after."""
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
        if app is not None and permission.lower() in app.permissions:
            app.permissions[permission.lower()] = False

    def set_wifi_calling(self, enabled: bool, mms_over_wifi: bool | None = None) -> None:
        self.device.wifi_calling_enabled = enabled
        if mms_over_wifi is not None:
            self.device.wifi_calling_mms_over_wifi = mms_over_wifi

    def break_apn_settings(self) -> None:
        """Set an access point that has no service."""
        self.device.active_apn_settings.apn_name = APNNames.BROKEN
        self.simulate_network_search()

    def break_apn_mms_setting(self) -> None:
        """Remove the server address (MMSC) for picture messages."""
        self.device.active_apn_settings.mmsc_url = None

    def break_vpn(self) -> None:
        self.device.vpn_details = VpnDetails("poor")

    def lock_sim_card(self, mode: str) -> None:
        """Lock the SIM card with its `pin` or `puk`."""
        self.device.sim_card_status = f"locked_{mode}"
        self.simulate_network_search()

    def assert_service_status(self, expected_status: str) -> bool:
        return (CONNECTED if self.device.has_service else NO_SERVICE) == expected_status

    def assert_mobile_data_status(self, expected_status: bool) -> bool:
        return self._data_works() == expected_status

    def assert_internet_speed(self, expected_speed: float, expected_desc: str | None = None) -> bool:
        """Return whether mobile data has this speed and description."""
        speed = self._speed()
        word = "No Connection" if speed is None else _speed_words(speed)[0]
        is_called = expected_desc is None or word.lower() == expected_desc.lower()
        return (speed or 0.0) >= expected_speed and is_called

    def assert_can_send_mms(self, expected_status: bool) -> bool:
        return self.mms_works() == expected_status

    # The phone

    def simulate_network_search(self) -> None:
        """Find the network that SIM card, mode, access point and line allow."""
        device = self.device
        mode = device.network_mode_preference
        technology = MODES.get(mode, "4G") if isinstance(mode, str) else "4G"  # pyright: ignore[reportUnnecessaryIsInstance] - model's value
        device.connect(technology if device.sim == "active" and not device.airplane_mode else NONE)
        if device.active_apn_settings.apn_name == APNNames.BROKEN or not self.surroundings.line_active:
            device.connect(NONE)

    def _data_works(self) -> bool:
        device, around = self.device, self.surroundings
        may_roam = not around.is_abroad or (device.roaming_enabled and around.roaming_allowed)
        return device.has_service and may_roam and device.data_enabled and not around.mobile_data_usage_exceeded

    def _speed(self) -> float | None:
        """Return the speed in Mbps; None if there is no connection."""
        if not self._data_works():
            return None
        device = self.device
        share = 0.1 if device.vpn_details is not None and device.vpn_details.server_performance == "poor" else 1.0
        if device.data_saver_mode:
            share *= 0.2
        speed = _MEAN_SPEED[device.network_technology_connected]
        return round(speed * _SIGNAL_SHARE[device.network_signal_strength] * share, 2)

    def mms_works(self) -> bool:
        device, app = self.device, self.device.app_statuses.get("messaging")
        if not self._data_works() or device.network_technology_connected == "2G" or app is None:
            return False
        is_over_wifi = device.wifi_calling_enabled and device.wifi_calling_mms_over_wifi
        has_url = device.active_apn_settings.mmsc_url is not None
        return not is_over_wifi and has_url and app.permissions["storage"] and app.permissions["sms"]

    def bar(self, text: str = "") -> str:
        """Return a text with the status bar below it."""
        device = self.device
        parts = ["✈️ Airplane Mode"]
        if not device.airplane_mode:
            parts = [_SIGNAL_WORDS[device.network_signal_strength]]
            if device.has_service:
                parts.append(device.network_technology_connected)
            if device.data_enabled and device.has_service:
                parts += ["📱 Data Enabled", *(["🔽 Data Saver"] if device.data_saver_mode else [])]
            else:
                parts.append("📵 Data Disabled")
        if device.vpn_details is not None:
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
    return [name for name, is_granted in app.permissions.items() if is_granted]


def _speed_words(speed: float) -> tuple[str, str]:
    return next((word, advice) for limit, word, advice in _SPEED_WORDS if speed < limit)
