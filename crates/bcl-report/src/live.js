// Asks for new content every two seconds. Without this script, the page reloads itself.
(() => {
  const content = document.getElementById("content");
  const live = document.getElementById("live");
  const say = (text) => { if (live.textContent !== text) live.textContent = text; };
  let shown = null;
  const poll = async () => {
    let data;
    try {
      const answer = await fetch("/data.json", { cache: "no-store" });
      data = await answer.json();
    } catch {
      say("bcl-train watch has ended; the page shows what was known last.");
      return;
    }
    if (data.content !== shown) {
      // The server has escaped all text in it.
      content.innerHTML = data.content;
      shown = data.content;
    }
    if (data.over) {
      say(data.page ? `Finished. The report is ${data.page}` : "Finished.");
      return;
    }
    say(`Live: ${data.runs.filter((run) => !run.finished).length} under way.`);
    setTimeout(poll, 2000);
  };
  poll();
})();
