/** A turn may go on after a pause: numbers and names that are dictated in groups, and unfinished requests. */
import t from 'tap'
import { looksFinished } from '../../domain/conversation/words/turn-end.ts'

const goesOn: Record<string, string[]> = {
  en: [
    'My number is 212',
    'My number is 212.',
    'My number is two one two',
    'My number is two twelve',
    'My number is 212 555',
    'It is 212 555 12',
    'You can reach me at 415',
    'My phone number is plus one',
    'The card number is 4111',
    'My credit card is 4111 1111 1111',
    'The zip code is 10',
    'My name is Smith, S M I',
    'It is spelled S.',
    'S as in Sam, M as in Mary',
    'J-O-H',
    'I need',
    'I was calling about',
    'Could you tell me',
    'Is there',
    'My email is john dot',
    'My number is',
    'The account number is 1234.',
    'My direct number is 415',
    'My cell is area code 212',
    'My phone number would be 415',
    'You can reach me at four one five',
    'The verification code is 48',
    'My order number is 47 11',
    'I would like to.',
    'You can call me back at 212',
    'The number is area code 212',
    'My number’s 415',
    'My social is 123',
    'The expiry date is 12',
    'My name is Smith, S M I T',
    'Double four',
    'Could you please',
    'The reason I’m calling is',
  ],
  de: [
    'Meine Nummer ist 0171',
    'Meine Kartennummer lautet 4111 1111',
    'M wie Martha',
    'Ich brauche',
    'Meine Nummer lautet',
    'Meine Telefonnummer ist 0171',
    'Unsere Nummer ist 040',
    'Ich komme mit',
    'Eine Frage über',
    'Anna punkt',
    'Sie erreichen mich unter 0171',
    'Vorwahl 030',
    'Anna ät',
  ],
  nl: ['Mijn nummer is 06', 'Ik kom met', 'Een vraag over', 'U kunt me bereiken op 06'],
  es: ['Mi número es 612', 'Mi número es seis', 'Necesito', 'Mi nombre se escribe', 'Puede llamarme al 612'],
  fr: ['Mon numéro est 06', 'Mon numéro est zéro six', 'Je cherche', 'Est-ce que', 'Vous pouvez me joindre au 06'],
  it: ['Il mio numero è 333', 'Può chiamarmi al 333', 'Ho bisogno di'],
  pt: ['Meu número é 11', 'Me ligue no 11', 'Eu gostaria'],
}

const wholeInGerman = [
  'Meine Hausnummer ist 5',
  'Meine Bestellnummer lautet 4711',
  'Mein Handy ist ein iPhone 12',
  'Ich komme mit.',
  'Das bringen wir auf den Punkt.',
  'Ich ziehe nächste Woche ein.',
  'Es bleiben drei über.',
  'Sie erreichen mich um 12.',
]

const ends: Record<string, string[]> = {
  en: [
    'My number is 212 555 1234',
    'My number is 555 1234',
    'My number is two one two five five five one two three four',
    'My card number is 4111 1111 1111 1111',
    'The zip code is 10001',
    'My pin is 1234',
    'At 5 p m',
    'I am twenty five',
    'A table for 4',
    'There are 212',
    'Room 12',
    'I need a table for two',
    'I saw it on T V',
    'Yes, it is.',
    'Yes, I have.',
    'Please tell me.',
    'The number of people is large',
    'My order number is 4711',
    'My order number is 4711.',
    'My house number is 5',
    'The room number is 212.',
    'My flight number is 12',
    'Table number is four',
    'The country code is 49',
    'The area code is 212',
    'It shows error code 12',
    'The exit code was 1',
    'The security code is 123',
    'My phone is an iPhone 12',
    'My mobile is a Galaxy 24.',
    'My card expires in 27',
    'My card ends in 42',
    'Call me at 5.',
    'Call me at 10:30.',
    'Call me at ten thirty',
    'Call me back at 10 30',
    'My social life is 5 of 10',
    'The expiry date is 12 27',
    'Option B',
    'I work in area 51',
  ],
  de: ['Meine Nummer ist 0171 1234567', 'Ich brauche einen Tisch', 'Um 12', ...wholeInGerman],
  nl: ['Mijn huisnummer is 5', 'Ik denk aan over.', 'Daar ben ik voor.', 'Dat is een goed punt.'],
  es: ['Mi número es 612 345 678', 'Necesito una mesa', 'Mi número de pedido es 4711', 'El código de error es 12'],
  fr: ['Mon numéro est 06 12 34 56 78', 'Il y a', 'Mon numéro de commande est 4711', 'Je cherche une table'],
}

t.test('an unfinished dictation or request is classified as unfinished', (t) => {
  for (const [language, texts] of Object.entries(goesOn))
    for (const text of texts) t.notOk(looksFinished(text, language), `${language}: ${text}`)
  t.end()
})

t.test('a complete dictation or request is classified as finished', (t) => {
  for (const [language, texts] of Object.entries(ends))
    for (const text of texts) t.ok(looksFinished(text, language), `${language}: ${text}`)
  t.end()
})
