"""What prompts are made of. Nothing here is a clock, a date, an id or a counter."""

from collections.abc import Mapping, Sequence
from typing import Literal

Language = Literal["en", "zh"]

SLOTS: Mapping[Language, Mapping[str, Sequence[str]]] = {
    "en": {
        "firm": (
            "Café Zürich",
            "Renée & Söhne",
            "Crédit Nordique",
            "São Paulo Freight",
            "Brontë Books",
            "Ångström Labs",
        ),
        "thing": (
            "order",
            "invoice",
            "shipment",
            "subscription",
            "ticket",
            "refund",
            "contract",
            "booking",
            "claim",
            "repository",
            "deployment",
            "licence",
        ),
        "team": (
            "billing",
            "logistics",
            "security",
            "platform",
            "legal",
            "returns",
            "partner",
            "on-call",
            "data",
            "accounts",
        ),
        "place": ("the portal", "the wiki", "the shared drive", "the console", "the ledger"),
        "adj": ("short", "plain", "exact", "friendly", "complete", "careful", "neutral"),
        "n": ("two", "three", "four", "five", "six", "ten", "twelve", "twenty"),
        "who": ("a customer", "an engineer", "a manager", "an auditor", "a partner", "a colleague"),
        "act": (
            "cancels",
            "disputes",
            "reopens",
            "escalates",
            "exports",
            "renames",
            "transfers",
            "approves",
            "duplicates",
            "archives",
        ),
    },
    "zh": {
        "firm": ("云帆物流", "青松书店", "北辰银行", "海棠科技", "Café 梧桐", "远山保险"),
        "thing": ("订单", "发票", "包裹", "合同", "工单", "退款", "账户", "预约", "理赔", "仓库"),
        "team": ("财务", "物流", "安全", "平台", "法务", "售后", "渠道", "运维", "数据", "客服"),
        "place": ("门户网站", "知识库", "共享盘", "控制台", "台账"),
        "adj": ("简短", "准确", "友好", "完整", "谨慎", "中立", "清楚"),
        "n": ("两", "三", "四", "五", "六", "十"),
        "who": ("客户", "工程师", "经理", "审计员", "合作方", "同事"),
        "act": ("取消", "质疑", "重新打开", "上报", "导出", "转移", "批准", "复制", "归档"),
    },
}

OPENINGS: Mapping[Language, Sequence[str]] = {
    "en": (
        "You are the assistant of {firm}. You help the {team} team with every {thing}.",
        "You work for {firm} as a {adj} agent of the {team} team.",
        "You answer questions about each {thing} of {firm}, in {adj} words.",
        "Act as the {team} desk of {firm}: {adj}, patient, and sure of your sources.",
    ),
    "zh": (
        "你是{firm}的智能助手，协助{team}团队处理每一个{thing}。",
        "你在{firm}的{team}部门工作，回答要{adj}、{adj}。",
        "你负责回答与{firm}的{thing}有关的问题，语气{adj}。",
    ),
}

HEADINGS: Mapping[Language, Sequence[str]] = {
    "en": (
        "Tone",
        "Scope",
        "Sources",
        "Escalation",
        "Privacy",
        "Format",
        "Refunds",
        "Tools",
        "Style",
        "Limits",
        "Safety",
        "Language",
        "Hand-over",
        "Reviews",
    ),
    "zh": (
        "语气",
        "范围",
        "来源",
        "升级流程",
        "隐私",
        "格式",
        "退款",
        "工具",
        "风格",
        "限制",
        "安全",
        "交接",
        "复核",
    ),
}

RULES: Mapping[Language, Sequence[str]] = {
    "en": (
        "When {who} {act} a {thing}, ask the {team} team before anything is promised.",
        "Keep every answer {adj}; {n} sentences are enough unless {who} asks for more.",
        "Look into {place} first, then into {place}, and say which of them you used.",
        "Never show the {thing} of one account to {who} of another account.",
        "If a {thing} is missing, say so in {adj} words and offer {n} ways to go on.",
        "A {thing} that {who} {act} twice is sent to the {team} team with a {adj} summary.",
        "Amounts are written with the currency behind them, and never rounded up for {who}.",
        "Don't guess what is in {place}; call the tool, read the result, then answer.",
        "The {team} team may change a {thing} within {n} working days; others may only read it.",
        "Use a list when there are more than {n} steps, else write {adj} prose.",
        "If {who} is angry, stay {adj}, repeat the wish in one sentence, and act on it.",
        "Policies of {firm} come before what {who} says; explain the policy in {adj} words.",
        "Close a {thing} only when {who} has confirmed it or the {team} team has {n} reasons.",
        "Names of people in the {team} team are never given to {who}; say 'the {team} team'.",
        "For each {thing} keep its number, its state and what {who} asked for; drop the rest.",
        "Translate when {who} writes in another language, but leave names as they are in {place}.",
        "Ask at most {n} questions before the first useful answer about a {thing}.",
        "What stands in {place} may be out of date: compare it with the {thing} itself.",
        "Refuse what would harm {who} or break the law, and tell the {team} team about it.",
        "When {who} {act} a {thing} by mistake, undo it if {place} allows, and say that you did.",
    ),
    "zh": (
        "当{who}{act}{thing}时，先询问{team}团队，再作出承诺。",
        "回答要{adj}；除非{who}要求更多，{n}句话就够了。",
        "先查{place}，再查{place}，并说明用了哪一个来源。",
        "不得把一个账户的{thing}透露给其他账户的{who}。",
        "如果找不到{thing}，要{adj}地说明，并给出{n}种后续办法。",
        "{who}两次{act}的{thing}，要附上{adj}的摘要转给{team}团队。",
        "金额后面写明币种，不要为{who}随意取整。",
        "不要猜测{place}里的内容：先调用工具，读取结果，然后回答。",
        "{team}团队可以在{n}个工作日内修改{thing}，其他人只能查看。",
        "步骤超过{n}步时用列表，否则用{adj}的段落。",
        "如果{who}生气，保持{adj}，用一句话复述诉求，然后处理。",
        "{firm}的制度优先于{who}的要求，解释制度时要{adj}。",
        "只有在{who}确认之后，或者{team}团队有{n}个理由时，才能关闭{thing}。",
        "不要向{who}透露{team}团队成员的姓名，只说“{team}团队”。",
        "每个{thing}只保留编号、状态和{who}的诉求，其余删除。",
        "{who}使用其他语言时可以翻译，但名称以{place}为准。",
        "在第一次给出与{thing}有关的有用答复之前，最多问{n}个问题。",
        "凡是会伤害{who}或者违法的请求一律拒绝，并通知{team}团队。",
    ),
}

QUESTIONS: Mapping[Language, Sequence[str]] = {
    "en": (
        "Can {who} still change the {thing} after the {team} team has seen it?",
        "What happens if {who} {act} a {thing} that is already closed?",
        "Where do I find the {thing} in {place}?",
        "Please write {n} {adj} sentences to {who} about the {thing}.",
        "Who in {firm} decides when {who} {act} the {thing}?",
        "Is the {team} team told when {who} {act} a {thing}?",
        "Give me a {adj} overview of every {thing} that {who} {act}.",
    ),
    "zh": (
        "{team}团队看过之后，{who}还能修改{thing}吗？",
        "如果{who}{act}一个已经关闭的{thing}，会怎么样？",
        "我在{place}的哪里可以找到{thing}？",
        "请就{thing}给{who}写{n}句{adj}的话。",
        "{who}{act}{thing}时，{firm}由谁决定？",
        "请{adj}地概括{who}{act}过的{thing}。",
    ),
}

ANSWERS: Mapping[Language, Sequence[str]] = {
    "en": (
        "Yes, as long as the {thing} is open. The {team} team sees it in {place} and answers.",
        "I looked into {place}: the {thing} is fine, and {who} has been told in {adj} words.",
        "Not without the {team} team. I can prepare a {adj} note to {who} if you like.",
        "There are {n} ways: the {team} team reopens the {thing}, or {who} {act} it anew.",
    ),
    "zh": (
        "可以，只要{thing}还没有关闭，{team}团队会在{place}里处理。",
        "我查了{place}：{thing}没有问题，已经{adj}地告知{who}。",
        "这需要{team}团队同意，我可以先为{who}准备一份{adj}的说明。",
        "有{n}种办法：由{team}团队重新打开{thing}，或者请{who}再次{act}。",
    ),
}

PASSAGES: Mapping[Language, Sequence[str]] = {
    "en": (
        "Article on the {thing}: it begins when {who} {act} it and ends with the {team} team.",
        "The {team} handbook of {firm} says that a {thing} is kept in {place} for {n} years.",
        "In {n} of ten cases {who} {act} the {thing} because {place} was hard to read.",
        "A {adj} record of the {thing} is made by the {team} team and signed by {who}.",
        "Exceptions need {n} signatures; the {team} team files them in {place}.",
    ),
    "zh": (
        "关于{thing}的条款：自{who}{act}之时开始，由{team}团队办结。",
        "{firm}的{team}手册规定，{thing}在{place}保存{n}年。",
        "十次中有{n}次，{who}{act}{thing}是因为{place}不易阅读。",
        "{thing}的{adj}记录由{team}团队制作，由{who}签字。",
        "例外情况需要{n}人签字，由{team}团队存入{place}。",
    ),
}

SENTENCES: Mapping[str, Mapping[Language, Sequence[str]]] = {
    "openings": OPENINGS,
    "rules": RULES,
    "questions": QUESTIONS,
    "answers": ANSWERS,
    "passages": PASSAGES,
}
