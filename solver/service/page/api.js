// Requests to the service, and what goes wrong with them, in words.

export class Refusal extends Error {}

let asked = 0;

export async function ask(request, fields = {}) {
  asked += 1;
  document.body.dataset.asking = String(asked);
  try {
    return await answered(request, fields);
  } finally {
    asked -= 1;
    document.body.dataset.asking = String(asked);
  }
}

async function answered(request, fields) {
  let response;
  try {
    response = await fetch(`/api/${request}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(fields),
    });
  } catch {
    throw new Refusal("The server does not answer. Is it still running?");
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Refusal(`The server gave no answer that can be read (status ${response.status}).`);
  }
  if (answer.error) throw new Refusal(answer.error.message);
  return answer;
}

const box = document.getElementById("error");

export function showError(error) {
  if (!(error instanceof Refusal)) console.error(error);
  box.textContent = error instanceof Refusal ? error.message : `This page failed: ${error.message}`;
  box.hidden = false;
}

export function clearError() {
  box.hidden = true;
  box.textContent = "";
}
