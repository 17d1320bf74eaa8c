"""The official domain for tests, in which users have tasks."""

from typing import Any, Literal

import msgspec

from console.benchmarks.tau2.rules.domains import world
from console.benchmarks.tau2.rules.domains.world import USER, Table, World, converted, tool

TaskStatus = Literal["pending", "completed"]


class Task(msgspec.Struct, gc=False):
    """Something to do."""

    task_id: str
    title: str
    description: str | None = None
    status: TaskStatus = "pending"


class User(msgspec.Struct, gc=False):
    """Someone with tasks."""

    user_id: str
    name: str
    tasks: list[str]


class Notification(msgspec.Struct, gc=False):
    """A message to the user."""

    notification_id: str
    message: str
    status: str = "unread"
    task_id: str | None = None


class Data(msgspec.Struct, gc=False):
    """The pulled data."""

    tasks: dict[str, Task]
    users: dict[str, User]
    notifications: dict[str, Notification] = {}


class MockWorld(World):
    """Tasks, and the user's notifications."""

    rows = Data

    def __init__(self, data: Data) -> None:
        self.tasks, self.users = Table(data.tasks, "Task {} not found"), Table(data.users, "User {} not found")
        self.notifications = Table(data.notifications, "Notification {} not found")

    @tool("write")
    def create_task(self, user_id: str, title: str, description: str = None) -> Task:  # pyright: ignore[reportArgumentType] - official schema  # noqa: RUF013
        user = self.users.get(user_id)
        name = f"task_{sum(1 for _ in self.tasks) + 1}"
        task = converted(Task, {"task_id": name, "title": title, "description": description, "status": "pending"})
        self.tasks.add(name, task)
        user.tasks.append(name)
        return task

    @tool("read")
    def get_users(self) -> list[User]:
        return list(self.users)

    @tool("write")
    def update_task_status(self, task_id: str, status: TaskStatus) -> Task:
        task = self.tasks.get(task_id)
        task.status = status
        return task

    transfer_to_human_agents = world.transfer_to_human_agents

    def assert_task_status(self, task_id: str, expected_status: str) -> bool:
        return self.tasks.get(task_id).status == expected_status

    @tool("read", USER)
    def check_notifications(self) -> Any:
        return list(self.notifications)

    @tool("write", USER)
    def dismiss_notification(self, notification_id: str) -> str:
        self.notifications.get(notification_id).status = "read"
        return f"Notification {notification_id} dismissed"

    def add_notification(self, notification_id: str, message: str, task_id: str | None = None) -> None:
        self.notifications.add(notification_id, Notification(notification_id, message, task_id=task_id))

    def assert_notification_status(self, notification_id: str, expected_status: str) -> bool:
        return any(
            row.status == expected_status for row in self.notifications if row.notification_id == notification_id
        )
