"""Small environments for verifiers, one for each way of playing; read by verifiers in an environment of its own.

`aidanbench` follows the client's description of that environment: an answer is valid if its coherence and its novelty
exceed the thresholds, the first that is not ends the rollout, and the reward is the number of valid answers.
"""

import math
import re

import verifiers as vf
from datasets import Dataset
from openai import AsyncOpenAI

SUMS = Dataset.from_list([{"question": f"What is {n}+{n}?", "answer": str(2 * n)} for n in range(4)])


async def holds_answer(completion, answer):
    return float(answer in str(completion[-1].get("content")))


def single(**_):
    return vf.SingleTurnEnv(eval_dataset=SUMS, system_prompt="Be brief.", rubric=vf.Rubric(funcs=[holds_answer]))


async def length(text: str) -> str:
    """Return the length of a text.

    Args:
        text: The text.
    """
    return str(len(text))


def tools(**_):
    return vf.ToolEnv(eval_dataset=SUMS, tools=[length], max_turns=4, rubric=vf.Rubric(funcs=[holds_answer]))


class Turns(vf.MultiTurnEnv):
    async def env_response(self, messages, state, **_):
        return [{"role": "user", "content": f"Go on {len(messages)}"}]


def turns(**_):
    return Turns(eval_dataset=SUMS, max_turns=3, rubric=vf.Rubric(funcs=[holds_answer]))


def judged(judge_api_base_url="http://127.0.0.1:9", **_):
    judge = AsyncOpenAI(base_url=judge_api_base_url, api_key="none")
    rubric = vf.JudgeRubric(judge_client=judge, judge_model="m", judge_prompt="GRADE {question} {answer} {response}")

    async def graded(judge, prompt, completion, answer, state):
        return float("C" in await judge(prompt, completion, answer, state))

    rubric.add_reward_func(graded)
    return vf.SingleTurnEnv(eval_dataset=SUMS, rubric=rubric)


def last_tag(name, text):
    tags = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
    return tags[-1].strip() if tags else text


def cosine(one, other):
    product = sum(x * y for x, y in zip(one, other, strict=True))
    return product / (math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(y * y for y in other)))


class Aidan(vf.MultiTurnEnv):
    def __init__(self, judge, embedding, **settings):
        super().__init__(**settings)
        self.judge, self.embedding = judge, embedding

    async def setup_state(self, state):
        state.update(accepted=[], novelties=[], coherences=[])
        await super().setup_state(state)

    async def embed(self, text):
        return (await self.embedding.embeddings.create(model="m", input=text)).data[0].embedding

    async def env_response(self, messages, state, **_):
        question, answer = state["answer"], last_tag("answer", messages[-1]["content"])
        prompt = f"Rate from 0 to 100 in <coherence_score>.\n<question>{question}</question>\n<answer>{answer}</answer>"
        reply = await self.judge.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])
        coherence = float(last_tag("coherence_score", reply.choices[0].message.content))
        vector = await self.embed(answer)
        earlier = [await self.embed(text) for text in state["accepted"]]  # again with each turn, as the original does
        novelty = 1.0 - max((cosine(vector, each) for each in earlier), default=0.0)
        if coherence > 15 and novelty > 0.15:
            state["accepted"].append(answer)
            state["novelties"].append(novelty)
            state["coherences"].append(coherence)
        else:
            state["final_env_response"] = [{"role": "user", "content": "That is all."}]
        given = "\n".join(state["accepted"])
        return [{"role": "user", "content": f"Answer {question} in <answer> again. Given so far:\n{given}"}]


async def valid_answers(state):
    return float(len(state["accepted"]))


async def avg_coherence(state):
    return sum(state["coherences"]) / len(state["coherences"]) if state["coherences"] else 0.0


async def sum_embedding_novelty(state):
    return sum(state["novelties"])


def aidanbench(judge_api_base_url="", embedding_api_base_url="", questions=(), **_):
    rows = [{"question": f"{text} Answer in <answer>.", "answer": text} for text in questions]
    rubric = vf.Rubric(funcs=[valid_answers, avg_coherence, sum_embedding_novelty], weights=[1.0, 0.0, 0.0])
    judge, embedding = (
        AsyncOpenAI(base_url=address, api_key="none") for address in (judge_api_base_url, embedding_api_base_url)
    )
    return Aidan(judge, embedding, eval_dataset=Dataset.from_list(rows), max_turns=20, rubric=rubric)


def load_environment(kind="single", **args):
    return {"single": single, "tools": tools, "turns": turns, "judged": judged, "aidanbench": aidanbench}[kind](**args)
