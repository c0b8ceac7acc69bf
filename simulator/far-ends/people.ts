/** Behaviours for people on the phone. */
import { type Behaviour, type FarEnd, firstWordsMs } from './far-end.ts'
import { phrasesIn, saysGoodbye } from './phrases.ts'

export const greeting = 'Hello there.'
export const usualLines = [
  'I have a question about your opening hours.',
  'Are you also open on Saturday?',
  'And where are you?',
  'Good, thank you very much.',
]
/**
 * If the other party has not spoken at all for this time, the person asks whether somebody is there. The person also
 * asks if it was talking while the other party paused, because the other party may then wait for an answer.
 */
const silenceMs = 5000
/**
 * After pressing a key, the person does not press the key again within this time. After it, the person presses again if
 * asked again. The time is longer than the time in which a menu counts keys as one entry.
 */
const pressedAgainMs = 4000

export type Talk = {
  /** The person's first words. Null if the other party speaks first. */
  greeting: string | null
  /** The person says one line at each pause by the other party. */
  lines: readonly string[]
  /** If true, the person continues with the first line after the last line. If false, the person is then silent. */
  repeats: boolean
  /** The base language in which all texts are spoken. If absent, English. */
  language?: string
}

/**
 * A person in a conversation: replies at each pause, and hangs up if the other party says goodbye. If the person said
 * goodbye first, it hangs up after the reply, or when no reply comes.
 */
export function talker({ greeting, lines, repeats, language = 'en' }: Talk): Behaviour {
  const { farewell, isThere } = phrasesIn(language)
  let next = 0
  let hasSaidGoodbye = false
  let hasMissedPause = false
  let cancelAsking = () => {}
  const askLater = (phone: FarEnd) => {
    cancelAsking()
    cancelAsking = phone.after(silenceMs, () => ask(phone))
  }
  const ask = (phone: FarEnd) => {
    if (phone.wasSpokenTo && !hasMissedPause) return
    if (!phone.isSpokenTo && !phone.isSaying) phone.say(isThere)
    askLater(phone)
  }
  const say = (phone: FarEnd, line: string) => {
    if (!saysGoodbye(line)) return phone.say(line)
    phone.say(line, () => {
      hasSaidGoodbye = true
      phone.after(silenceMs, () => !phone.isSpokenTo && phone.hangUp())
    })
  }
  return {
    language,
    texts: [...(greeting === null ? [] : [greeting]), ...lines, farewell, isThere],
    answered(phone) {
      phone.after(firstWordsMs, () => greeting !== null && phone.say(greeting))
      askLater(phone)
    },
    paused(phone, words) {
      if (hasSaidGoodbye) return phone.hangUp()
      if (saysGoodbye(words)) return phone.say(farewell, () => phone.hangUp())
      // While the words were recognized, the other party began to speak again. The person then does not interrupt.
      if (phone.isSpokenTo) return
      // The person was talking during the pause, so the other party may now wait for an answer.
      hasMissedPause = phone.isSaying
      if (hasMissedPause) return askLater(phone)
      const line = repeats ? lines[next % lines.length] : lines[next]
      next++
      if (line !== undefined) say(phone, line)
    },
  }
}

/**
 * A person is asked whether to accept a call. After the question the person says or presses something, and then talks.
 */
export function screened(decision: { says: string } | { presses: string } | null): Behaviour {
  const talk = talker({ greeting: null, lines: usualLines, repeats: true })
  let isBridged = false
  let hasPressed = false
  const press = (phone: FarEnd, keys: string) => {
    // A question may contain a pause. Its second part must not be answered with the key again.
    if (hasPressed) return
    hasPressed = true
    phone.press(keys)
    phone.after(pressedAgainMs, () => {
      hasPressed = false
    })
  }
  return {
    texts: [greeting, ...talk.texts, ...(decision && 'says' in decision ? [decision.says] : [])],
    answered: (phone) => void phone.after(firstWordsMs, () => phone.say(greeting)),
    paused(phone, words) {
      if (isBridged) return talk.paused?.(phone, words)
      if (decision === null) return
      if ('says' in decision) phone.say(decision.says)
      else press(phone, decision.presses)
    },
    bridged() {
      isBridged = true
    },
  }
}

/** A person says nothing. */
export const silent: Behaviour = { texts: [] }

export function leavesAfter(event: 'answered' | 'bridged', delayMs: number): Behaviour {
  const talk = talker({ greeting, lines: usualLines, repeats: true })
  const leave = (phone: FarEnd) => void phone.after(delayMs, () => phone.hangUp())
  if (event === 'bridged') return { ...talk, bridged: leave }
  return { ...talk, answered: leave }
}

/** A person's connection breaks after this delay, without any message. */
export function vanishes(delayMs: number): Behaviour {
  const talk = talker({ greeting, lines: usualLines, repeats: true })
  return {
    ...talk,
    answered(phone) {
      talk.answered?.(phone)
      phone.after(delayMs, () => phone.vanish())
    },
  }
}
