import type { LanguageWords } from './language-words.ts'

export const portuguese: LanguageWords = {
  turns: {
    backchannels:
      'sim|é|aham|ahã|claro|certo|isso|isso mesmo|exato|exatamente|bem|tá|tá bom|está bem|entendi|entendo|percebo|pois|pois é|beleza|perfeito|ótimo|com certeza|né|uhum|tudo bem|legal',
    unfinished:
      'e|ou|mas|porque|que|se|quando|enquanto|embora|como|onde|o|a|os|as|um|uma|uns|umas|meu|minha|meus|minhas|seu|sua|seus|suas|este|esta|esse|essa|de|do|da|dos|das|em|no|na|nos|nas|com|por|pelo|pela|para|pra|sem|sobre|até|entre|me|quero|queria|gostaria|pode|hum|então|tipo|preciso|queria saber|poderia|vocês têm|ligo para|número é|nome é|endereço é|se escreve|arroba|hífen',
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
