import { announcing } from './announcing.ts'
import type { LanguageWords } from './language-words.ts'
import { numeralTable } from './numerals.ts'

/** Words that may come between an announcement such as "o meu número" and the number. */
const links = 'é|o|a|número|de|do|meu|seu|telefone|telemóvel|celular|mais|no|para'

export const portuguese: LanguageWords = {
  turns: {
    backchannels:
      'sim|é|aham|ahã|claro|certo|isso|isso mesmo|exato|exatamente|bem|tá|tá bom|está bem|entendi|entendo|percebo|pois|pois é|beleza|perfeito|ótimo|com certeza|né|uhum|tudo bem|legal',
    unfinished:
      'e|ou|mas|porque|que|se|quando|enquanto|embora|como|onde|o|a|os|as|um|uma|uns|umas|meu|minha|meus|minhas|seu|sua|seus|suas|este|esta|esse|essa|de|do|da|dos|das|em|no|na|nos|nas|com|por|pelo|pela|para|pra|sem|sobre|até|entre|me|quero|queria|gostaria|pode|hum|então|tipo|preciso|queria saber|poderia|vocês têm|ligo para|número é|nome é|endereço é|se escreve|arroba|hífen',
  },
  dictation: {
    numerals: () =>
      numeralTable({
        digits: 'zero um/uma dois/duas três quatro cinco seis/meia sete oito nove',
        teens:
          'dez onze doze treze catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove',
        tens: 'vinte trinta quarenta cinquenta sessenta setenta oitenta noventa',
        join: (ten, digit) => [`${ten} e ${digit}`],
        hundred: () => [],
        links: [],
      }),
    announcements: [
      { words: announcing('iban', links), code: 'iban' },
      { words: announcing('cartão(?: de crédito)?', links), digits: 15 },
      { words: announcing('código postal|cep', links), digits: 7 },
      { words: announcing('telefone|telemóvel|celular|(?:meu|seu|o) número', links), digits: 'phone' },
      { words: /(?<!\p{L})me lig\p{L}* (?:no|para o)$/u, digits: 'phone' },
    ],
    phoneForms: [],
    is: 'é',
    plus: 'mais',
    mail: {
      announcements: 'e ?mail|mail',
      at: 'arroba',
      dot: 'ponto',
      remarks: 'não|errado|novo|o|a|muito|importante|esse|este',
    },
    spelling: {
      announcements: '(?:se escreve|escrevese|soletrado)(?: com){0,2}',
      asIn: 'como em',
      like: 'de|como',
      twice: 'duplo|dois',
      letterWords: 'e a|e o|é a|é o|o k|t v|a e|o a|a o|o e',
      alphabet: '',
    },
  },
  agent: {
    fallback: 'Desculpe, não consigo responder agora. Pode repetir?',
    toolLeadIn: 'Um momento, por favor.',
    screeningQuestion: 'Para atender a chamada, prima 1 ou diga sim. Para recusar, prima 2 ou diga não.',
    screeningReason: 'Olá. Tenho uma chamada para si.',
    summaryIntroduction: 'A pessoa disse:',
  },
  decisions: {
    yes: 'sim|claro|aceito|pode passar|com certeza|está bem|tudo bem',
    no: 'não|nao|recuso|ocupado|ocupada|mais tarde|agora não',
    postponed: 'agora não|não agora|hoje não|ainda não|mais tarde|outra hora|outro dia|amanhã|depois',
  },
  greetings: {
    voicemail:
      'caixa postal|correio de voz|caixa de correio|deixe seu recado|deixe a sua mensagem|deixe sua mensagem|deixe uma mensagem|após o sinal|depois do sinal|após o bipe',
    excuse: 'não posso atender|não posso falar',
    busy: 'estou dirigindo|estou conduzindo|estou a conduzir|em reunião|estou ocupado|estou ocupada|estou trabalhando|me liga|me ligue|um momento|um segundo',
    ambiguous: 'não está disponível',
    person:
      'quer deixar|deseja deixar|gostaria de deixar|em que posso ajudar|como posso ajudar|posso ajudar|quem fala|quem está falando|você deixou|você me deixou|o senhor deixou|a senhora deixou|deixou me|me ligou',
    conversing:
      'diga seu nome|diga o seu nome|motivo da ligação|motivo da chamada|digite 1|prima 1|tecle 1|aguarde na linha',
  },
  transferRequests:
    'passeme|me passar|me passe|transfirame|me transfira|me transferir|falar com|um atendente|uma atendente',
}
