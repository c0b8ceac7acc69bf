/**
 * The test numbers +1500555…, each with a different behaviour. All other numbers behave like +15005550006, a person in
 * a conversation.
 */
import type { Behaviour } from './far-end.ts'
import { callScreening, menu, voicemail } from './machines.ts'
import { greeting, leavesAfter, screened, silent, talker, usualLines, vanishes } from './people.ts'

/** The outcome after dialling a number. */
export type Dialled =
  | { ends: 'answered'; afterMs: number }
  | { ends: 'never' }
  | { ends: 'hangup'; afterMs: number; sipCode: number; cause: HangupCause }
  /** The carrier refuses to dial. */
  | { ends: 'refused'; status: 403 | 503 }

export type HangupCause =
  | 'call_rejected'
  | 'normal_clearing'
  | 'originator_cancel'
  | 'timeout'
  | 'time_limit'
  | 'user_busy'
  | 'unspecified'

/**
 * `late`: each event is sent twice, late and in another order. `no_hangup`, `no_bridged`: the hang-up or bridge event
 * is lost.
 */
export type WebhookFaults = 'late' | 'no_hangup' | 'no_bridged' | null

export type NumberPlan = {
  dialled: Dialled
  behaviour(): Behaviour
  machine: 'human' | 'machine' | 'not_sure'
  losesAudio?: true
  /** If true, the far end refuses a trunk's request to call another number (REFER). */
  refusesRefer?: true
  webhooks?: Exclude<WebhookFaults, null>
}

const answers: Dialled = { ends: 'answered', afterMs: 1000 }
const person = () => talker({ greeting, lines: usualLines, repeats: true })
const usual: NumberPlan = { dialled: answers, behaviour: person, machine: 'human' }

const hangup = (sipCode: number, cause: HangupCause): NumberPlan => ({
  ...usual,
  dialled: { ends: 'hangup', afterMs: 1000, sipCode, cause },
})
const machine = (behaviour: () => Behaviour, result: NumberPlan['machine'] = 'machine'): NumberPlan => ({
  dialled: answers,
  behaviour,
  machine: result,
})
const human = (behaviour: () => Behaviour): NumberPlan => ({ ...usual, behaviour })
/** A person hangs up as soon as the carrier has connected the call. */
const leavesAtBridge = (): Behaviour => ({
  ...screened(null),
  bridged: (phone) => void phone.after(0, () => phone.hangUp()),
})

const prefix = '+1500555'
const plans: Readonly<Record<string, NumberPlan>> = {
  '0001': { ...usual, dialled: { ends: 'refused', status: 403 } },
  '0002': { ...usual, dialled: { ends: 'never' } },
  '0003': hangup(486, 'user_busy'),
  '0004': hangup(603, 'call_rejected'),
  '0005': hangup(482, 'unspecified'),
  '0006': usual,
  '0007': { ...usual, dialled: { ends: 'answered', afterMs: 20_000 } },
  '0008': machine(() => voicemail({ beeps: true })),
  '0009': machine(() => voicemail({ beeps: false })),
  '0010': machine(menu),
  '0011': human(() => silent),
  '0012': { ...usual, losesAudio: true },
  '0013': { ...usual, refusesRefer: true },
  '0015': human(() => screened({ says: 'Yes, please put them through.' })),
  '0016': human(() => screened({ says: 'No, I cannot take the call now.' })),
  '0017': human(() => screened({ presses: '1' })),
  '0018': human(() => screened({ presses: '2' })),
  '0019': human(() => screened(null)),
  '0020': human(() => leavesAfter('bridged', 2000)),
  '0021': human(() => leavesAfter('answered', 1000)),
  '0022': { ...human(() => vanishes(3000)), webhooks: 'no_hangup' },
  '0023': { ...usual, webhooks: 'late' },
  '0024': { ...usual, dialled: { ends: 'refused', status: 503 } },
  '0025': machine(callScreening, 'not_sure'),
  '0026': { ...human(() => screened(null)), webhooks: 'no_bridged' },
  '0027': { ...human(leavesAtBridge), webhooks: 'no_bridged' },
}

/** Returns the plan for a dialled number. */
export function planOf(number: string): NumberPlan {
  return (number.startsWith(prefix) ? plans[number.slice(prefix.length)] : undefined) ?? usual
}

/** The sentences of a simulated caller, in one language. */
export type CallerLines = { lines: readonly string[]; language: string }

/**
 * Returns the plan for a simulated caller's number. A caller lets the other party speak first. `own` replaces the usual
 * sentences.
 */
export function callerPlanOf(number: string, own: CallerLines | null): NumberPlan {
  const plan = planOf(number)
  if (plan.behaviour !== person) return plan
  const talk = { greeting: null, ...(own ?? { lines: usualLines }), repeats: own === null }
  return { ...plan, behaviour: () => talker(talk) }
}
