import { announcing } from './announcing.ts'
import type { LanguageWords } from './language-words.ts'
import { numeralTable } from './numerals.ts'

/** Words that may come between announcement and number. */
const links = 'это|номер|мой|наш|карты|телефона|плюс'

export const russian: LanguageWords = {
  turns: {
    backchannels:
      'да|ага|угу|ну да|так|ясно|понятно|понял|поняла|понимаю|хорошо|верно|точно|конечно|ладно|окей|правильно|именно|мм|м|ну|отлично|вот как|разумеется',
    unfinished:
      'и|а|но|или|что|чтобы|если|когда|потому что|потому|хотя|как|где|который|которая|которые|в|во|на|с|со|к|ко|у|от|до|из|под|над|о|об|про|для|без|через|между|мой|моя|мои|ваш|ваша|этот|эта|я|не|ну|э|эм|значит|то есть|я хочу',
  },
  dictation: {
    numerals: () =>
      numeralTable({
        digits: 'ноль один/одна два/две три четыре пять шесть семь восемь девять',
        teens:
          'десять одиннадцать двенадцать тринадцать четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать',
        tens: 'двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто',
        join: (ten, digit) => [`${ten} ${digit}`],
        hundred: () => [],
        links: [],
      }),
    announcements: [
      { words: announcing('карт\\p{L}*', links), digits: 15 },
      { words: announcing('телефон|номер телефона|(?:мой|наш) номер', links), digits: 'phone' },
    ],
    phoneForms: [{ starts: /^8 ?9/, digits: 11 }],
    is: 'это',
    plus: 'плюс',
    mail: { announcements: 'почта|мейл', at: 'собака', dot: 'точка', remarks: 'не' },
    spelling: {
      announcements: 'по буквам|пишется',
      asIn: '',
      like: 'как',
      twice: 'две',
      letterWords: '',
      alphabet: '',
    },
  },
  agent: {
    fallback: 'Извините, сейчас я не могу ответить. Повторите, пожалуйста.',
    toolLeadIn: 'Одну минуту, пожалуйста.',
  },
}
