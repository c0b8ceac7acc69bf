import type { LanguageWords } from './language-words.ts'

export const turkish: LanguageWords = {
  turns: {
    backchannels:
      'evet|tamam|tabii|tabi|anladım|anlıyorum|hı hı|hıhı|doğru|aynen|peki|güzel|olur|elbette|he|öyle|tamamdır',
    unfinished: 've|veya|ya da|ama|fakat|çünkü|ki|eğer|bir|benim|senin|sizin|için|ile|gibi|kadar|şey|yani|ııı|eee',
  },
  agent: {
    fallback: 'Üzgünüm, şu anda yanıt veremiyorum. Tekrar eder misiniz?',
    toolLeadIn: 'Bir saniye lütfen.',
  },
  decisions: {
    yes: 'evet|tabii|tabi|elbette|olur|tamam|peki|bağlayın|bağla|kabul ediyorum|neden olmasın|sorun değil|sorun yok|memnuniyetle',
    no: 'hayır|yok|olmaz|istemiyorum|reddediyorum|meşgulüm|asla|değil',
    undecided: 'bilmiyorum|anlamadım|anlamıyorum|duyamıyorum|duymadım|emin değilim|evet buyurun|evet alo|evet kim',
    postponed: 'şimdi değil|şimdi olmaz|daha sonra|sonra|başka zaman|yarın|bugün olmaz',
  },
}
