/**
 * Returns true if a text ends inside a dictated number or a spelled name. Speakers pause after each group, so a pause
 * inside it does not end the turn. `words` is plain text: lower case without punctuation.
 */
export function isWithinDictation(words: string, language: string): boolean {
  return isWithinNumber(words, language.toLowerCase().slice(0, 2)) || isSpelling(words)
}

/**
 * If no words announce a number, digits count as a dictated number only if there are at least two groups. From seven
 * digits on, the number may be complete.
 */
const groupsMin = 2
const digitsWhole = 7

const spokenDigits = new Set(
  [
    'zero one two three four five six seven eight nine oh double triple',
    'null eins zwei zwo drei vier fünf sechs sieben acht neun',
    'cero uno dos tres cuatro cinco seis siete ocho nueve',
    'zéro un deux trois quatre cinq six sept huit neuf',
    'due tre quattro cinque sei sette otto nove',
    'dois três quatro sete oito',
    'nul een twee drie vijf zes zeven negen',
    'ноль один два три четыре пять шесть семь восемь девять',
  ].flatMap((words) => words.split(' ')),
)

/** Each of these words stands for two digits. Without an announced number, "twenty five" is an answer. */
const spokenTens = new Set(
  'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred'.split(
    ' ',
  ),
)

/**
 * Words that announce a number, right before it. `digits` is the number's length. `isClock` is true if the number may
 * be a time of day.
 */
type Announcement = { words: RegExp; digits: number; isClock?: true }

const isWords = 'is|its|ist|lautet|es|est|è|é|is het'
/**
 * These words may come between a phone number's announcement and the number. "My phone is an iPhone 12" announces no
 * number.
 */
const linkWords = `(?:number|nummer|número|numero|numéro|номер|numer|line|${isWords}|it|would|will|be|to|at|on|plus|area|code|unter|der|die|das|el|la|le|il|o|no|the)`
/**
 * Words before "number" that announce a long number. Short numbers are said without a pause, and other words precede
 * them, such as in "order number is 4711".
 */
const ownNumber =
  '(?:^|my|our|his|her|their|your|the|a|new|other|best|direct|home|work|office|contact|callback|cell|fax|meine|unsere|ihre|seine|die|eine|mi|su|nuestro|el|tu|mon|son|notre|le|un|mio|suo|il|meu|seu|o|mijn|ons|het|мой|наш|mój|nasz)'
/** Numbers after these words, such as error codes and room numbers, are short, so speakers do not pause in them. */
const shortCodes =
  'error|country|area|dial|dialing|dialling|order|house|room|exit|status|dress|fault|product|item|building|airport|branch|store|department|class|course|color|colour|time|promo|discount|coupon|voucher|offer'

/** Only the first matching entry is used. */
const announced: readonly Announcement[] = [
  {
    words:
      /(?<!\p{L})(?:\p{L}*card|\p{L}*karten?(?:nummer)?|tarjeta|carte|carta|cartão|\p{L}*kaart(?:nummer)?|iban)(?: (?!(?:expir\p{L}*|end\p{L}*|from|since|until|in|of|for)(?: |$))\p{L}+){0,5}$/u,
    digits: 15,
  },
  { words: /(?<!\p{L})(?:(?:social security|ssn|routing number)(?: \p{L}+){0,3}|my social(?: is)?)$/u, digits: 9 },
  {
    words: /(?<!\p{L})(?:account|policy|tracking|serial|konto|rekening)(?: number|nummer)(?: \p{L}+){0,2}$/u,
    digits: 8,
  },
  {
    words: /(?<!\p{L})(?:zip|zip code|postal code|postcode|postleitzahl|código postal|code postal)(?: \p{L}+){0,2}$/u,
    digits: 5,
  },
  { words: /(?<!\p{L})(?:security code|cvv|cvc)(?: \p{L}+){0,2}$/u, digits: 3 },
  {
    words: new RegExp(
      `(?<!\\p{L}|(?:^| )(?:${shortCodes}) )(?:pin|passcode|code)(?! (?:erreur|pays|promo))(?: \\p{L}+){0,2}$`,
      'u',
    ),
    digits: 4,
  },
  {
    words: new RegExp(
      `(?<!\\p{L})${ownNumber} ?(?:numbers|(?:number|nummer|número|numero|numéro|номер|numer) (?:${isWords}|cest|would be|the|to|die|el|le|il|o))(?: \\p{L}+)?$`,
      'u',
    ),
    digits: digitsWhole,
  },
  {
    words: new RegExp(
      `(?<!\\p{L})(?:(?:tele)?phone|mobile|cell|handy|\\p{L}*telefon|(?:telefon|handy|mobil|mobilfunk|ruf|festnetz|rückruf|telefoon)nummer|teléfono|móvil|celular|téléphone|portable|telefono|cellulare|telefone|telemóvel|телефон)(?: ${linkWords}){0,4}$`,
      'u',
    ),
    digits: digitsWhole,
  },
  { words: /(?<!\p{L})(?:call|reach|text|ring) me (?:back )?(?:at|on)$/u, digits: digitsWhole, isClock: true },
  {
    words:
      /(?<!\p{L})(?:mich (?:an )?unter|m?(?:joindre|appeler|rappeler) au|llam\p{L}*me al|localizarme en el|(?:chiamar|raggiunger)mi al|me lig\p{L}* (?:no|para o)|(?:bereiken|bel me|bellen) op)$/u,
    digits: digitsWhole,
  },
  { words: /(?<!\p{L})(?:area code|vorwahl)$/u, digits: digitsWhole },
  { words: /(?<!\p{L})(?:expiry|expiration)(?: date)?(?: is)?$/u, digits: 4 },
]

type Dictated = { groups: number[]; digits: number; before: string }

/**
 * Returns true for a spoken digit. The language matters: "um" is the digit one in Portuguese, a filler in English, and
 * "at" in German.
 */
function isDigit(word: string, language: string): boolean {
  return spokenDigits.has(word) || (language === 'pt' && word === 'um')
}

function isWithinNumber(words: string, language: string): boolean {
  const spoken = dictatedAtEnd(words, (word) => (isDigit(word, language) ? 1 : spokenTens.has(word) ? 2 : 0))
  const announcement = announced.find(({ words }) => words.test(spoken.before))
  if (announcement !== undefined && spoken.digits > 0) {
    if (announcement.isClock && isClock(spoken)) return false
    return spoken.digits < announcement.digits || isCutPhoneNumber(spoken, language)
  }
  const { groups, digits, before } = dictatedAtEnd(words, (word) => Number(isDigit(word, language)))
  return groups.length >= groupsMin && (digits < digitsWhole || isCutPhoneNumber({ groups, digits, before }, language))
}

/** Returns true if the groups can be a time of day: "5", "10 30" and "ten thirty". */
function isClock({ groups: [hours = 0, minutes = 2, ...more] }: Dictated): boolean {
  return hours <= 2 && minutes === 2 && more.length === 0
}

/** Finds the digits at the end, such as "five five five" or "555 12". */
function dictatedAtEnd(words: string, lengthOf: (word: string) => number): Dictated {
  const list = words.split(' ')
  const groups: number[] = []
  for (let word = list.at(-1); word !== undefined; word = list.at(-1)) {
    const length = /^\d+$/.test(word) ? word.length : lengthOf(word)
    if (length === 0) break
    groups.unshift(length)
    list.pop()
  }
  return { groups, digits: groups.reduce((sum, length) => sum + length, 0), before: list.join(' ') }
}

/**
 * Returns true for an incomplete North American number. Its groups have 3, 3 and 4 digits, so "212 555 1" is incomplete
 * although it has seven digits.
 */
function isCutPhoneNumber({ groups }: Dictated, language: string): boolean {
  if (language !== 'en') return false
  const [area, exchange, line, ...more] = groups[0] === 1 ? groups.slice(1) : groups
  return area === 3 && exchange === 3 && line !== undefined && line < 4 && line + more.reduce((a, b) => a + b, 0) < 4
}

/** Pairs of single letters that are words or abbreviations, so they are not spelling. */
const letterWords = /(?:^| )(?:a m|p m|o k|t v|u s|u k|i d|d c|l a|y a)$/
const letters = /(?:^| )\p{Script=Latin} \p{Script=Latin}$/u
const firstLetter =
  /(?:^| )(?:spelled|spelt|spell|buchstabiert|geschrieben|escribe|sécrit|scrive|escreve|gespeld)(?: (?:it|with|mit|con|avec|com|met))? \p{Script=Latin}$/u
/** Matches "S as in Sam", where the last word stands for its letter. */
const letterName =
  /(?:^| )(?:\p{Script=Latin} (?:as in|wie)|[b-df-hj-np-tv-xz] (?:for|like|como|come|comme|van)) \p{L}+$/u

function isSpelling(words: string): boolean {
  return (letters.test(words) && !letterWords.test(words)) || firstLetter.test(words) || letterName.test(words)
}
