/** Behaviours for answering machines: voicemail, a menu, and a phone's call screening. */
import { beep } from '../media/clip.ts'
import { type Behaviour, type FarEnd, firstWordsMs } from './far-end.ts'

const voicemailGreeting =
  'Hi, you have reached the voicemail of Sam. I cannot take your call right now. Please leave your name and your number after the tone.'
/** The longest recording in a mailbox. */
const recordingMs = 120_000
const tone = beep()

export function voicemail({ beeps }: { beeps: boolean }): Behaviour {
  const record = (phone: FarEnd) => {
    if (beeps) phone.play(tone)
    phone.after(recordingMs, () => phone.hangUp())
  }
  return {
    texts: [voicemailGreeting],
    answered: (phone) => void phone.after(firstWordsMs, () => phone.say(voicemailGreeting, () => record(phone))),
  }
}

const menuText = 'Welcome to the example company. For sales, press one. For support, press two.'
const digitNames: Readonly<Record<string, string>> = {
  0: 'zero',
  1: 'one',
  2: 'two',
  3: 'three',
  4: 'four',
  5: 'five',
  6: 'six',
  7: 'seven',
  8: 'eight',
  9: 'nine',
  '*': 'star',
  '#': 'pound',
}
/** If digits are pressed within this time of each other, they count as one entry. */
const entryMs = 1500
const entryDigitsMax = 32

/** A menu. It repeats the digits pressed by the other party. */
export function menu(): Behaviour {
  let digits = ''
  let cancel = () => {}
  const repeat = (phone: FarEnd) => {
    const names = [...digits].map((digit) => digitNames[digit] ?? digit)
    digits = ''
    phone.say(`You pressed ${names.join(', ')}.`)
  }
  return {
    texts: [menuText],
    answered: (phone) => void phone.after(firstWordsMs, () => phone.say(menuText)),
    pressed(phone, digit) {
      cancel()
      if (digits.length < entryDigitsMax) digits += digit
      cancel = phone.after(entryMs, () => repeat(phone))
    },
  }
}

const screeningQuestion =
  'Hi, the person you are calling is using a screening service. Please say your name and why you are calling.'
const screeningThanks = 'Thank you. Please stay on the line.'

/** A phone's call screening. It asks for the caller's name before the phone rings. */
export function callScreening(): Behaviour {
  let isAnswered = false
  return {
    texts: [screeningQuestion, screeningThanks],
    answered: (phone) => void phone.after(firstWordsMs, () => phone.say(screeningQuestion)),
    paused(phone) {
      if (isAnswered || phone.isSaying) return
      isAnswered = true
      phone.say(screeningThanks)
    },
  }
}
